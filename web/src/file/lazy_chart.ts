// A file has the view of flame charts in it.

export { TimeChart as LazyChart } from '../timechart';
