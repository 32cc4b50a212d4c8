// Views in a separate file on the server, since not every visitor uses them.
import { ComparePopup as Popup } from './compare_popup';
import { HowToStart as How } from './how_to_start';
import { enhanceLists as enhance } from './runs';

export { CallGraph } from './callgraph';
export { DifferenceChoice } from './difference_choice';
export { FunctionPage } from './function';
export { KeysSheet } from './keys_sheet';
export { TimeChart } from './timechart';
export const ComparePopup = IN_FILE ? () => null : Popup;
export const HowToStart = IN_FILE ? () => null : How;
export const enhanceLists = IN_FILE ? () => {} : enhance;
