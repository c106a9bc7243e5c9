import { expect, it } from 'vitest';
import { mergeTask, withPluginIds } from './task-entries.ts';

const http = { plugin: { id: 1 }, values: { sources: [{ agent: { id: 1 } }], requestsPerSecond: 5 } };
const udp = { plugin: { id: 3 }, values: { packetsPerSecond: 7 } };

it('plugins are named, in children of suites as well; names that are none stay', () => {
  const suite = { plugin: 'suite', subplugins: { subplugins: [{ plugin: { name: 'dns' } }], order: 1 } };
  expect(withPluginIds({ configuration: [{ plugin: 'http', values: {} }, suite, { plugin: 'gopher' }] })).toEqual({
    configuration: [
      { plugin: { id: 1 }, values: {} },
      { plugin: { id: 21 }, subplugins: { subplugins: [{ plugin: { id: 4 } }], order: 1 } },
      { plugin: 'gopher' },
    ],
  });
});

it('a merge of one member keeps the others, and entries beyond it', () => {
  const task = { comment: 'a', configuration: [http, udp] };
  expect(mergeTask(task, { configuration: [{ values: { requestsPerSecond: 9 } }] })).toEqual({
    comment: 'a',
    configuration: [{ ...http, values: { ...http.values, requestsPerSecond: 9 } }, udp],
  });
});

it('an entry of another plugin replaces the one before; lists inside are replaced, null removes', () => {
  const task = { configuration: [http] };
  expect(mergeTask(task, { configuration: [{ plugin: 'udp', values: { packetsPerSecond: 7 } }] })).toEqual({
    configuration: [udp],
  });
  const patch = { configuration: [{ plugin: 'http', values: { sources: [], requestsPerSecond: null } }] };
  expect(mergeTask(task, patch)).toEqual({ configuration: [{ plugin: { id: 1 }, values: { sources: [] } }] });
});
