import { expect, it } from 'vitest';
import { SampleStore } from '../../samples.ts';
import { expandTargets } from './target-ranges.ts';

it('a range of targets becomes its addresses, which share weight and metrics', () => {
  const single = { host: 'fd00::1', port: 80, weight: 2 };
  const { config, names } = expandTargets({
    role: 'client',
    targets: [single, { host: '10.0.0.254', last: '10.0.1.1', port: 8080, weight: 1 }],
  });
  const hosts = ['10.0.0.254', '10.0.0.255', '10.0.1.0', '10.0.1.1'];
  expect(config).toEqual({
    role: 'client',
    targets: [single, ...hosts.map((host) => ({ host, port: 8080, weight: 0.25 }))],
  });
  const store = new SampleStore();
  store.targetNames = names;
  for (const host of hosts) store.target(`${host}:8080`).counter('requests').add(1);
  store.target('fd00::1:80').counter('requests').add(1);
  expect(store.metrics.map(({ target, buffer }) => [target, new Float64Array(buffer)[0]])).toEqual([
    ['10.0.0.254-10.0.1.1:8080', 4],
    ['fd00::1:80', 1],
  ]);
});

it('what is no range is refused', () => {
  const targets = [{ host: '10.0.0.9', last: '10.0.0.1', port: 80, weight: 1 }];
  expect(() => expandTargets({ targets })).toThrow('10.0.0.9-10.0.0.1');
});
