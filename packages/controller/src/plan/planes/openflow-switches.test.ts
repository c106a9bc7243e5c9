import type { AccessPlaneEntry } from '@rushhour/contract';
import { expect, it } from 'vitest';
import { PlanIssues } from '../core/plan-issues.ts';
import { completeAccess } from './complete-access.ts';
import { defaultProfile } from './plane-references.ts';

type Part = Readonly<Record<string, object>>;

/** What is reported about an entry with a profile of OpenFlow. */
const refusalsOf = (changes: Part, more: { readonly isServer?: boolean; readonly given?: object } = {}) => {
  const issues = new PlanIssues();
  const whole = defaultProfile('openflow') as Part;
  const sections = Object.entries(whole).map(([name, section]) => [name, { ...section, ...changes[name] }]);
  const given = { openflow: [Object.fromEntries(sections)], ...more.given };
  const entry = { agent: { id: 1 }, isServer: more.isServer ?? false } as AccessPlaneEntry;
  const profiles = completeAccess(given, { entry, path: '/x', issues, machineAddresses: [] });
  return { profiles, messages: issues.issues.map(({ path, message }) => `${path} ${message}`) };
};

it('OpenFlow switches are an entry of their own, with nothing beside', () => {
  expect(Object.keys(refusalsOf({}).profiles ?? {})).toEqual(['openflow']);
  expect(refusalsOf({}, { isServer: true }).messages).toEqual([
    '/x/openflow/0 a server of the access plane cannot do openflow yet',
  ]);
  const beside = { given: { lag: [defaultProfile('lag')] } };
  expect(refusalsOf({}, beside).messages).toContain('/x/lag/0 switches of openflow have an entry of their own');
});

it('OpenFlow switches need ports for their topology, and a controller to call by TLS', () => {
  expect(refusalsOf({ switch: { count: 3, ports: 3 }, load: { topology: 'mesh' } }).messages).toEqual([]);
  expect(refusalsOf({ channel: { tls: true }, switch: { count: 5 }, load: { topology: 'star' } }).messages).toEqual([
    '/x/openflow/0 /channel/tls: switches that wait for their controller have no certificate',
    '/x/openflow/0 /switch/ports: the topology needs 4 ports, and hosts one more',
  ]);
});
