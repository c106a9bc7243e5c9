import { valuesOf } from './member.ts';
import { definePlugin } from './plugin.ts';

export const suite = definePlugin({
  id: 21,
  name: 'suite',
  title: 'Suite',
  description:
    'Several plugins as stages of one run. Its `subplugins.subplugins` are entries with `startAfterSec` and `order`: those of the same order begin together, each its `startAfterSec` later; the next order begins when all before have had their time. `subplugins.duration` limits the whole. It is as hazardous as its worst child.',
  kind: 'traffic',
  hazard: 0,
  canPause: true,
  canChangeLoad: true,
  engines: [],
  schema: valuesOf({}),
  examples: [{}],
  metrics: [],
  subplugins: {
    allowed: true,
    rule: 'One to 100 entries of any plugin but suites and planes. Only the last order may hold entries that end by count or by hand.',
  },
});
