// Views that are a file of their own on the server, since not everybody looks at one.
import { ComparePopup as Popup } from './compare_popup';
import { HowToStart as How } from './how_to_start';

export { CallGraph } from './callgraph';
export { FunctionPage } from './function';
export { KeysSheet } from './keys_sheet';
export { TimeChart } from './timechart';
export const ComparePopup = IN_FILE ? () => null : Popup;
export const HowToStart = IN_FILE ? () => null : How;
