// All panes beside the table, in the order of their tabs.

import { callersPane } from './callers';
import { filesPane } from './files';
import { iciclePane } from './icicle';
import type { PaneType } from './panes';
import { sourcePane } from './source';
import { whyPane } from './why';

export const PANES: readonly PaneType[] = [iciclePane, sourcePane, filesPane, whyPane, callersPane];
