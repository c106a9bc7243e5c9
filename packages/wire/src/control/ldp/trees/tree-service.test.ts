import { describe, expect, it } from 'vitest';
import { hexOfBytes } from '../../../bytes/memory.ts';
import { formatIpv4 } from '../../../ip/address.ts';
import { mutationRuns } from '../../../testing/mutation-runs.ts';
import { MessageWriter } from '../../message-writer.ts';
import { createPair, left, right } from '../../testing/ldp-pair.ts';
import { LdpError } from '../pdu.ts';
import { parseTreeFec, type TreeName, treeElement, writeTreeFec } from './tree-fec.ts';
import { TreeService, type TreeServiceOptions } from './tree-service.ts';

const options: TreeServiceOptions = {
  ...{ role: 'leaf', isMutual: false, root: right, count: 3, first: { kind: 'id', id: 7 }, firstLabel: 200_000 },
  keepMs: 1000,
};

/** A member at the left and the root at the right, which run for three seconds. */
const createTrees = (near: Partial<TreeServiceOptions> = {}, far: Partial<TreeServiceOptions> = {}) => {
  const member = new TreeService({ ...options, ...near });
  const root = new TreeService({ ...options, role: 'root', firstLabel: 300_000, ...far });
  const pair = createPair({}, {}, ([first, second]) => {
    first?.extend(member, []);
    second?.extend(root, []);
  });
  pair.run(3000);
  const labels = () => root.below.map((below) => [...below.values()]);
  return { ...pair, member, root, labels };
};

const fecOf = (element: number, name: TreeName): Uint8Array => {
  const writer = new MessageWriter();
  writeTreeFec(writer, element, right, name);
  return writer.take();
};

describe('FECs of trees', () => {
  it('are written and read as RFC 6388 and RFC 6826 define them', () => {
    const byId = fecOf(treeElement.pointToMultipoint, { kind: 'id', id: 7 });
    expect(hexOfBytes(byId)).toBe('0100001106000104' + '0a630002' + '0007' + '01000400000007');
    const stream = { kind: 'stream', source: left, group: 0xef010001 } as const;
    const byStream = fecOf(treeElement.downstream, stream);
    expect(hexOfBytes(byStream)).toBe('0100001508000104' + '0a630002' + '000b' + '0300080a630001ef010001');
    expect(parseTreeFec(new DataView(byStream.buffer, 4))).toEqual({ element: 8, root: right, name: stream });
  });

  it('that are changed are read or refused', () => {
    const seed = fecOf(treeElement.pointToMultipoint, { kind: 'id', id: 7 }).slice(4);
    let state = 7;
    const next = (limit: number) => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
      return (state >>> 8) % limit;
    };
    let [read, refused] = [0, 0];
    for (let i = 0; i < mutationRuns(30_000); i++) {
      const bytes = seed.slice(0, i % 3 === 0 ? 1 + next(seed.length) : undefined);
      for (let k = next(3); k > 0; k--) bytes[next(bytes.length)] = next(256);
      try {
        if (parseTreeFec(new DataView(bytes.buffer)) !== undefined) read++;
      } catch (error) {
        if (!(error instanceof LdpError)) throw error;
        refused++;
      }
    }
    expect(Math.min(read, refused)).toBeGreaterThan(5000);
  });
});

describe('multicast trees', () => {
  it('are joined by leaves, and the root knows their labels', () => {
    const { member, labels } = createTrees();
    expect(labels()).toEqual([[200_000], [200_001], [200_002]]);
    expect([0, 1, 2].every((tree) => member.isJoined(tree))).toBe(true);
  });

  it('have labels in both directions where every member may send', () => {
    const { member, labels } = createTrees({ isMutual: true }, { isMutual: true });
    expect(labels()).toEqual([[200_000], [200_001], [200_002]]);
    expect([...member.towardsRoot]).toEqual([300_000, 300_001, 300_002]);
  });

  it.each([
    ['another kind', { isMutual: true }],
    ['another root', { root: left }],
    ['other names', { first: { kind: 'id', id: 100 } } as const],
  ])('of %s are not mixed up', (_, far) => {
    expect(createTrees({}, far).labels()).toEqual([[], [], []]);
  });

  it('are left and joined again, and end with the session', () => {
    const { routers, member, labels, run, now } = createTrees();
    member.setDown(1, true);
    run(100);
    expect(labels()).toEqual([[200_000], [], [200_002]]);
    member.setDown(1, false);
    run(100);
    expect(labels()[1]).toEqual([200_001]);
    routers[0]?.stop(now());
    run(200);
    expect(labels()).toEqual([[], [], []]);
    expect(member.isJoined(0)).toBe(false);
  });

  it('are joined by the thousand', () => {
    const { labels } = createTrees({ count: 20_000 }, { count: 20_000 });
    expect(labels().flat()).toHaveLength(20_000);
  });

  it('of a router between are joined only while a router below needs them', () => {
    const sent: string[] = [];
    const neighbour = (lsrId: number) => ({
      ...{ lsrId, transport: formatIpv4(lsrId), sources: new Map(), upAt: 0, retryAt: 0 },
      session: {
        sendSeries: (next: () => { type: number } | undefined) => {
          for (let draft = next(); draft !== undefined; draft = next())
            sent.push(`${lsrId} ${draft.type.toString(16)}`);
          return true;
        },
      },
    });
    const [root, old, below] = [neighbour(right), neighbour(5), neighbour(9)];
    const service = new TreeService({ ...options, role: 'transit', count: 1 });
    for (const one of [old, below]) service.onUp(one as never, 0);
    const mapping = (type: number) => {
      const value = fecOf(treeElement.pointToMultipoint, { kind: 'id', id: 7 }).slice(4);
      return {
        type,
        id: 1,
        tlvs: [
          { type: 0x100, value },
          { type: 0x200, value: Uint8Array.of(0, 0, 0, 50) },
        ],
      };
    };
    expect(sent).toEqual([]);
    expect(service.take(below as never, mapping(0x400))).toBe('taken');
    expect(sent).toEqual(['5 400']);
    // The root itself is a better way; the old branch is kept for a second.
    service.onUp(root as never, 1000);
    service.onRoom(root as never);
    service.advance(1900);
    expect(sent).toEqual(['5 400', `${right} 400`]);
    service.advance(2000);
    expect(sent.at(-1)).toBe('5 402');
    service.take(below as never, mapping(0x402));
    expect(sent.at(-1)).toBe(`${right} 402`);
  });
});
