// In a file, the view of flame charts is included.

export { TimeChart as LazyChart } from '../timechart';
