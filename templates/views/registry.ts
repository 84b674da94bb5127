// SPDX-License-Identifier: BSD-3-Clause
// All panes, in the order of their tabs.

import type { App } from './app';
import { barriersPane } from './barriers';
import { callPanes } from './calls';
import { cardPane } from './card';
import { distributionPane } from './distribution';
import { filesPane } from './files';
import { iciclePane, treePanes } from './icicle';
import { instructionsPane } from './instructions';
import { memoryPane } from './memory';
import type { PaneType } from './panes';
import { scatterPane } from './scatter';
import { searchPane } from './search';
import { sourcePane } from './source';
import { tablePanes } from './tables';

export const panesOf = (app: App): readonly PaneType[] => [
  iciclePane,
  ...treePanes(app),
  scatterPane,
  sourcePane,
  instructionsPane,
  filesPane,
  cardPane,
  ...callPanes,
  barriersPane,
  distributionPane,
  memoryPane,
  ...tablePanes(app),
  searchPane,
];
