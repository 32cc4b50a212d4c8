// Views that are a file of their own on the server, since not everybody looks at one.
export { CallGraph } from './callgraph';
export { FunctionPage } from './function';
export { KeysSheet } from './keys_sheet';
export { TimeChart } from './timechart';
