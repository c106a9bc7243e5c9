import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseAddress } from '../addresses/address.ts';
import { isLocalMac, isMulticastMac, parseMac } from '../macs/mac.ts';
import type { MacPolicy } from '../macs/mac-policy.ts';
import { DraftError } from '../values/issue.ts';
import { createAddressSet, issuesOf } from './network.ts';
import type { MacLookup, NetworkDraft } from './network-draft.ts';
import { type PreviewRow, previewPage } from './preview.ts';

const macs: MacLookup = new Map([
  [1, { kind: 'address', address: '00:1b:21:00:00:01' }],
  [2, { kind: 'range', address: '00:1b:21:00:10:00', count: 300 }],
  [3, { kind: 'range', address: '00:1b:21:00:10:80', count: 300 }],
  [4, { kind: 'oui', address: '00:50:56' }],
  [5, { kind: 'address', address: '01:00:5e:00:00:01' }],
]);

const anyPolicy: fc.Arbitrary<MacPolicy> = fc.oneof(
  fc.constant<MacPolicy>({ mode: 'interface' }),
  fc.constantFrom<MacPolicy>(
    { mode: 'shared' },
    { mode: 'shared', macId: 1 },
    { mode: 'shared', start: '02:00:00:00:00:09' },
  ),
  fc.constantFrom<MacPolicy>({ mode: 'perIp' }, { mode: 'perIp', prefix: '02:1a:4c', start: '02:1a:4c:ff:ff:f0' }),
  fc.integer({ min: 1, max: 1000 }).map((step): MacPolicy => ({ mode: 'perIp', start: '02:00:00:00:00:07', step })),
  fc.constantFrom<MacPolicy>(
    { mode: 'derived' },
    { mode: 'derived', prefix: '02:1a:4c' },
    { mode: 'derived', prefix: '06' },
  ),
  fc.constantFrom<MacPolicy>({ mode: 'pool', macIds: [1, 2, 3] }, { mode: 'pool', macIds: [4, 2] }),
  fc.integer().map((seed): MacPolicy => ({ mode: 'random', seed })),
  fc.integer().map((seed): MacPolicy => ({ mode: 'random', seed, prefix: '02:1a:4c' })),
);

const anyDraft: fc.Arbitrary<NetworkDraft> = fc
  .record({
    net: fc.constantFrom(
      { subnet: '10.0.0.0/24', at: (n: number) => `10.0.0.${n % 256}` },
      { subnet: '192.168.0.0/25', at: (n: number) => `192.168.0.${n % 128}` },
      { subnet: '2001:db8::/120', at: (n: number) => `2001:db8::${(n % 256).toString(16)}` },
    ),
    policy: anyPolicy,
    gateway: fc.option(fc.integer({ min: 1, max: 126 }), { nil: undefined }),
    isGatewayKnown: fc.boolean(),
    excludes: fc.array(fc.integer({ min: 1, max: 126 }), { maxLength: 30 }),
    overrides: fc.uniqueArray(fc.integer({ min: 1, max: 126 }), { maxLength: 10 }),
  })
  .map(({ net, policy, gateway, isGatewayKnown, excludes, overrides }) => ({
    subnet: net.subnet,
    gateway: gateway === undefined ? undefined : net.at(gateway),
    gatewayMac: isGatewayKnown ? '00:00:5e:00:01:01' : undefined,
    excludes: excludes.map(net.at),
    macPolicy: policy,
    macOverrides: overrides
      .filter((n) => n !== gateway && !excludes.includes(n))
      .map((n) => ({ ip: net.at(n), mac: `0a:00:00:00:00:${n.toString(16).padStart(2, '0')}` })),
  }));

function allRows(draft: NetworkDraft, limit: number): PreviewRow[] {
  const rows: PreviewRow[] = [];
  const { totalPages } = previewPage(draft, macs, { limit });
  for (let page = 1; page <= totalPages; page++) rows.push(...previewPage(draft, macs, { page, limit }).rows);
  return rows;
}

describe('the preview of a MAC policy', () => {
  test('lists every client address once, in order, and nothing else but a gateway whose MAC is known', () => {
    fc.assert(
      fc.property(anyDraft, fc.integer({ min: 1, max: 70 }), (draft, limit) => {
        fc.pre(!issuesOf(draft, macs).some((issue) => issue.severity === 'error'));
        const rows = allRows(draft, limit);
        const clients = createAddressSet(draft);
        const ips = rows.filter((row) => row.source !== 'gateway').map((row) => row.ip);
        expect(ips).toEqual(clients.page(0n, 1000));
        const gateways = rows.filter((row) => row.source === 'gateway');
        expect(gateways.map((row) => row.ip)).toEqual(draft.gateway && draft.gatewayMac ? [draft.gateway] : []);
        expect(previewPage(draft, macs, { limit }).totalRows).toBe(rows.length);
        const values = rows.map((row) => parseAddress(row.ip).value);
        expect(values).toEqual(values.toSorted((a, b) => Number(a - b)));
        expect(rows.some((row) => draft.excludes?.includes(row.ip) && row.source !== 'gateway')).toBe(false);
      }),
    );
  });

  test('reads the same pages by number and by cursor', () => {
    fc.assert(
      fc.property(anyDraft, fc.integer({ min: 1, max: 70 }), (draft, limit) => {
        fc.pre(!issuesOf(draft, macs).some((issue) => issue.severity === 'error'));
        let cursor: string | null = previewPage(draft, macs, { limit }).rows[0]?.ip ?? null;
        let number = 1;
        for (; cursor !== null; number++) {
          const byCursor = previewPage(draft, macs, { start: cursor, limit });
          expect(byCursor).toEqual(previewPage(draft, macs, { page: number, limit }));
          expect(byCursor.page).toBe(number);
          cursor = byCursor.nextStart;
        }
        expect(number - 1).toBe(previewPage(draft, macs, { limit }).totalPages);
      }),
      { numRuns: 50 },
    );
  });

  test('gives unicast MACs, the same each time, and unique ones where the policy says so', () => {
    fc.assert(
      fc.property(anyDraft, (draft) => {
        const issues = issuesOf(draft, macs);
        fc.pre(!issues.some((issue) => issue.severity === 'error'));
        const rows = allRows(draft, 100);
        expect(allRows(structuredClone(draft), 37)).toEqual(rows);
        const given = rows.flatMap((row) => (row.mac === null ? [] : [parseMac(row.mac)]));
        expect(given.some(isMulticastMac)).toBe(false);
        const mode = draft.macPolicy?.mode ?? '';
        expect(rows.every((row) => (row.mac === null) === (row.source === 'interface'))).toBe(true);
        if (!['interface', 'shared'].includes(mode) && issues.length === 0)
          expect(new Set(given).size).toBe(given.length);
        if (mode === 'random') {
          const generated = rows.filter((row) => row.source === 'policy');
          expect(generated.every((row) => isLocalMac(parseMac(row.mac ?? '')))).toBe(true);
        }
      }),
    );
  });

  test('marks what an override changes', () => {
    const page = previewPage(
      {
        subnet: '10.0.0.0/29',
        gateway: '10.0.0.3',
        gatewayMacId: 1,
        macPolicy: { mode: 'perIp', start: '02:1a:4c:00:00:01' },
        macOverrides: [
          { ip: '10.0.0.4', mac: '0A-00-00-00-00-04' },
          { ip: '10.0.0.5', macId: 2, comment: 'printer' },
        ],
      },
      macs,
    );
    expect(page).toEqual({
      rows: [
        { ip: '10.0.0.1', mac: '02:1a:4c:00:00:01', source: 'policy', overridden: false },
        { ip: '10.0.0.2', mac: '02:1a:4c:00:00:02', source: 'policy', overridden: false },
        { ip: '10.0.0.3', mac: '00:1b:21:00:00:01', source: 'gateway', overridden: false },
        { ip: '10.0.0.4', mac: '0a:00:00:00:00:04', source: 'override', overridden: true },
        { ip: '10.0.0.5', mac: '00:1b:21:00:10:00', source: 'override', overridden: true },
        { ip: '10.0.0.6', mac: '02:1a:4c:00:00:05', source: 'policy', overridden: false },
      ],
      nextStart: null,
      page: 1,
      limit: 100,
      totalRows: 6,
      totalPages: 1,
    });
  });

  test('derives MACs that show the address', () => {
    const draft = { subnet: '10.1.2.0/30', macPolicy: { mode: 'derived' } };
    expect(previewPage(draft, macs).rows.map((row) => row.mac)).toEqual(['02:00:0a:01:02:01', '02:00:0a:01:02:02']);
  });

  test('walks a /64 to its end by cursor', () => {
    const draft = { subnet: '2001:db8::/64', macPolicy: { mode: 'perIp' } };
    const page = previewPage(draft, macs, { start: '2001:db8::ffff:ffff:ffff:fffe', limit: 10 });
    expect(page.rows.map((row) => row.ip)).toEqual(['2001:db8::ffff:ffff:ffff:fffe', '2001:db8::ffff:ffff:ffff:ffff']);
    expect(page.nextStart).toBeNull();
    expect(page.totalRows).toBe(2 ** 64);
    const before = previewPage(draft, macs, { page: (2n ** 64n - 2n) / 10n, limit: 10 });
    expect(before.nextStart).not.toBeNull();
  });

  test('takes start, limit and page from the draft, and the query overrides them', () => {
    const draft = { subnet: '10.0.0.0/24', limit: 5, page: 3 };
    expect(previewPage(draft, macs).rows[0]?.ip).toBe('10.0.0.11');
    expect(previewPage(draft, macs, { page: 1, limit: 2 }).rows.map((row) => row.ip)).toEqual(['10.0.0.1', '10.0.0.2']);
    expect(previewPage({ ...draft, start: '10.0.0.9' }, macs, { page: 1 }).rows[0]?.ip).toBe('10.0.0.1');
    expect(previewPage({ ...draft, start: '10.0.0.9' }, macs).rows[0]?.ip).toBe('10.0.0.9');
  });

  test('begins at the next address when the cursor is not one of the network', () => {
    const draft = { subnet: '10.0.0.0/24', excludes: ['10.0.0.8-10.0.0.20'] };
    expect(previewPage(draft, macs, { start: '10.0.0.10', limit: 1 }).rows[0]?.ip).toBe('10.0.0.21');
  });

  test.each([
    [{ limit: 0 }, '/limit'],
    [{ limit: 1001 }, '/limit'],
    [{ limit: 2.5 }, '/limit'],
    [{ page: 0 }, '/page'],
    [{ page: 1.5 }, '/page'],
    [{ page: 4 }, '/page'],
    [{ start: '10.0.0.255' }, '/start'],
    [{ start: '::1' }, '/start'],
    [{ start: 'x' }, '/start'],
  ])('refuses %o', (query, path) => {
    const preview = (): unknown => previewPage({ subnet: '10.0.0.0/24' }, macs, query);
    expect(preview).toThrow(DraftError);
    expect(preview).toThrow(new RegExp(`^${path}`));
  });

  test('refuses an invalid draft with all its problems', () => {
    expect(() => previewPage({ subnet: '10.0.0.0/24', gateway: 'x', ports: 'y' }, macs)).toThrow(
      expect.objectContaining({
        issues: [{ path: '/ports' }, { path: '/gateway' }].map((part) => expect.objectContaining(part)),
      }),
    );
  });
});

describe('issues of MAC policies', () => {
  const codesOf = (draft: Omit<NetworkDraft, 'subnet'>): string[] =>
    issuesOf({ subnet: '10.0.0.0/24', ...draft }, macs).map(({ path, code }) => `${path} ${code}`);

  test.each<[MacPolicy, string]>([
    [{ mode: 'pool' }, '/macPolicy/macIds MAC_POOL_EMPTY'],
    [{ mode: 'pool', macIds: [4, 9] }, '/macPolicy/macIds/1 MAC_NOT_FOUND'],
    [{ mode: 'pool', macIds: [4, 5] }, '/macPolicy/macIds/1 MAC_MULTICAST'],
    [{ mode: 'pool', macIds: [1] }, '/macPolicy MAC_POOL_TOO_SMALL'],
    [{ mode: 'shared', macId: 9 }, '/macPolicy/macId MAC_NOT_FOUND'],
    [{ mode: 'shared', start: '01:00:00:00:00:00' }, '/macPolicy/start MAC_MULTICAST'],
    [{ mode: 'perIp', prefix: 'xx' }, '/macPolicy/prefix MAC_PREFIX_INVALID'],
    [{ mode: 'perIp', prefix: '00:00:00' }, '/macPolicy/prefix MAC_ZERO'],
    [{ mode: 'perIp', prefix: '02:1a:4c', start: '02:1a:4d:00:00:00' }, '/macPolicy/start MAC_START_OUTSIDE_PREFIX'],
    [{ mode: 'perIp', prefix: '02:00:00:00:00', step: 2 }, '/macPolicy MAC_SPACE_TOO_SMALL'],
    [{ mode: 'derived', prefix: '02:00:00:00:00:01' }, '/macPolicy/prefix MAC_PREFIX_INVALID'],
    [{ mode: 'random', prefix: '03' }, '/macPolicy/prefix MAC_MULTICAST'],
  ])('%o is answered with %s', (macPolicy, expected) => {
    expect(codesOf({ macPolicy })).toEqual([expected]);
  });

  test('a space of exactly enough MACs is no problem, one that is too small a warning', () => {
    const draft = { subnet: '10.0.0.0/23', macPolicy: { mode: 'derived', prefix: '02:00:00:00:00' } };
    expect(issuesOf(draft)).toMatchObject([{ code: 'MAC_SPACE_TOO_SMALL', severity: 'warning' }]);
    expect(codesOf({ macPolicy: { mode: 'derived', prefix: '02:00:00:00:00' } })).toEqual([]);
  });

  test('a MAC given twice is a problem, wherever it is given', () => {
    const mac = '0a:00:00:00:00:01';
    expect(
      codesOf({
        macOverrides: [
          { ip: '10.0.0.1', mac },
          { ip: '10.0.0.2', mac },
        ],
      }),
    ).toEqual(['/macOverrides/1/mac MAC_DUPLICATE']);
    expect(codesOf({ gatewayMac: mac, macOverrides: [{ ip: '10.0.0.1', mac }] })).toEqual([
      '/gatewayMac MAC_DUPLICATE',
    ]);
    expect(
      codesOf({
        macOverrides: [
          { ip: '10.0.0.1', mac },
          { ip: '10.0.0.1', mac: '0a:00:00:00:00:02' },
        ],
      }),
    ).toEqual(['/macOverrides/1/ip OVERRIDE_DUPLICATE_IP']);
  });

  test('a fixed MAC that the policy gives another address is found, whatever the policy', () => {
    const unique = anyPolicy.filter(({ mode }) => !['interface', 'shared'].includes(mode));
    fc.assert(
      fc.property(unique, fc.integer({ min: 0, max: 253 }), fc.integer({ min: 0, max: 253 }), (macPolicy, from, to) => {
        const draft = { subnet: '10.0.0.0/24', macPolicy };
        const rows = allRows(draft, 1000);
        const [taken, taker] = [rows[from], rows[to]];
        const macOverrides = [{ ip: taker?.ip ?? '', mac: taken?.mac ?? '' }];
        expect(codesOf({ macPolicy, macOverrides })).toEqual(from === to ? [] : ['/macOverrides/0/mac MAC_DUPLICATE']);
      }),
    );
  });

  test('ids are not checked where no records are given', () => {
    expect(issuesOf({ subnet: '10.0.0.0/24', macPolicy: { mode: 'pool', macIds: [9] }, gatewayMacId: 8 })).toEqual([]);
  });

  test.each([
    [{ ip: 'x', mac: '0a:00:00:00:00:01' }, '/macOverrides/0/ip OVERRIDE_IP_INVALID'],
    [{ ip: '10.0.1.1', mac: '0a:00:00:00:00:01' }, '/macOverrides/0/ip OVERRIDE_OUTSIDE_SUBNET'],
    [{ ip: '::1', mac: '0a:00:00:00:00:01' }, '/macOverrides/0/ip OVERRIDE_OUTSIDE_SUBNET'],
    [{ ip: '10.0.0.255', mac: '0a:00:00:00:00:01' }, '/macOverrides/0/ip OVERRIDE_EXCLUDED'],
    [{ ip: '10.0.0.254', mac: '0a:00:00:00:00:01' }, '/macOverrides/0/ip OVERRIDE_IS_GATEWAY'],
    [{ ip: '10.0.0.1', mac: '0a:00:00:00:00:01', macId: 1 }, '/macOverrides/0 OVERRIDE_AMBIGUOUS'],
    [{ ip: '10.0.0.1', mac: '00:00:00:00:00:00' }, '/macOverrides/0/mac MAC_ZERO'],
    [{ ip: '10.0.0.1', macId: 9 }, '/macOverrides/0/macId MAC_NOT_FOUND'],
  ])('override %o is answered with %s', (override, expected) => {
    expect(codesOf({ gateway: '10.0.0.254', macOverrides: [override] })).toEqual([expected]);
  });
});
