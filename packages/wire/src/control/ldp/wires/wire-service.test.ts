import { describe, expect, it } from 'vitest';
import { hexOfBytes } from '../../../bytes/memory.ts';
import { mutationRuns } from '../../../testing/mutation-runs.ts';
import { MessageWriter } from '../../message-writer.ts';
import { createPair, left, right } from '../../testing/ldp-pair.ts';
import { LdpError } from '../pdu.ts';
import { parseWireFec, writeWireFec } from './wire-fec.ts';
import { generalizedNames, numberedNames } from './wire-names.ts';
import { WireService, type WireServiceOptions } from './wire-service.ts';

const options: WireServiceOptions = {
  ...{ names: numberedNames(7), wireType: 5, count: 3, mtu: 1500, hasControlWord: true, groupId: 9 },
  ...{ firstLabel: 400_000, peers: [], hasStatus: true, isStandby: false, checks: undefined },
  withdrawsAddresses: false,
};

/** Services of both routers, which run for three seconds. */
const createServices = (near: Partial<WireServiceOptions> = {}, far: Partial<WireServiceOptions> = {}) => {
  const services = [near, far].map((more) => new WireService({ ...options, ...more }));
  const pair = createPair({}, {}, (routers) =>
    routers.forEach((router, i) => {
      router.extend(services[i] as WireService, []);
    }),
  );
  pair.run(3000);
  const statesOf = (index: number) => {
    const service = services[index] as WireService;
    return Array.from({ length: service.wires.size }, (_, wire) => service.stateOf(wire));
  };
  return { ...pair, services: services as [WireService, WireService], statesOf };
};

const fecOf = (fec: Parameters<typeof writeWireFec>[1]): Uint8Array => {
  const writer = new MessageWriter();
  writeWireFec(writer, fec, { channels: 1, tools: 2 });
  return writer.take();
};
const numbered = { wireType: 5, hasControlWord: true, groupId: 9, mtu: 1500 };

describe('FECs of pseudowires', () => {
  it('are written and read as RFC 8077 defines them', () => {
    const bytes = fecOf({ ...numbered, name: { kind: 'numbered', id: 7 } });
    expect(hexOfBytes(bytes)).toBe('010000148080050c0000000900000007010405dc0c040102');
    expect(parseWireFec(new DataView(bytes.buffer, 4))).toEqual({ ...numbered, name: { kind: 'numbered', id: 7 } });
    const names = generalizedNames({
      ...{ group: '65000:1', type: 2, sourceStart: 1, targetStart: 5, globalId: 65_000, prefix: left },
    });
    const own = fecOf({ ...numbered, name: names.nameOf(2, right) });
    expect(hexOfBytes(own).slice(8)).toBe(
      `8180052601080000fde800000001020c0000fde80a63000100000003020c0000fde80a63000200000007`,
    );
    expect(parseWireFec(new DataView(own.buffer, 4))?.name).toEqual(names.nameOf(2, right));
  });

  it('that are changed are read or refused', () => {
    const seeds = [
      fecOf({ ...numbered, name: { kind: 'numbered', id: 7 } }),
      fecOf({
        ...numbered,
        name: generalizedNames({
          ...{ group: '192.0.2.1:1', type: 1, sourceStart: 1, targetStart: 5, globalId: 0, prefix: left },
        }).nameOf(0, right),
      }),
    ];
    let state = 7;
    const next = (limit: number) => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
      return (state >>> 8) % limit;
    };
    let refused = 0;
    for (let i = 0; i < mutationRuns(30_000); i++) {
      const bytes = (seeds[i % 2] as Uint8Array).slice(4, 5 + next(40));
      for (let k = next(3); k > 0; k--) bytes[next(bytes.length)] = next(256);
      try {
        parseWireFec(new DataView(bytes.buffer));
      } catch (error) {
        if (!(error instanceof LdpError)) throw error;
        refused++;
      }
    }
    expect(refused).toBeGreaterThan(5000);
  });
});

describe('pseudowires', () => {
  it('come up between two routers and know the labels of each other', () => {
    const { statesOf, services } = createServices({}, { firstLabel: 500_000 });
    for (const index of [0, 1]) expect(statesOf(index)).toEqual(['up', 'up', 'up']);
    expect([0, 1, 2].map((wire) => services[0].labelOf(wire))).toEqual([500_000, 500_001, 500_002]);
  });

  it('are named by the attachments of both ends', () => {
    const base = { group: '65000:1', type: 2, globalId: 65_000 } as const;
    const near = generalizedNames({ ...base, sourceStart: 1, targetStart: 100, prefix: left });
    const far = generalizedNames({ ...base, sourceStart: 100, targetStart: 1, prefix: right });
    const { statesOf } = createServices({ names: near }, { names: far });
    expect(statesOf(0)).toEqual(['up', 'up', 'up']);
    const other = createServices(
      { names: near },
      { names: generalizedNames({ ...base, ...near, sourceStart: 200, targetStart: 1, prefix: right }) },
    );
    expect(other.statesOf(0)).toEqual(['no label', 'no label', 'no label']);
  });

  it('agree on doing without the control word', () => {
    const { statesOf } = createServices({}, { hasControlWord: false });
    for (const index of [0, 1]) expect(statesOf(index)).toEqual(['up', 'up', 'up']);
  });

  it.each([
    ['another MTU', { mtu: 9000 }, 'other MTU 9000'],
    ['another type', { wireType: 4 }, 'no label'],
    ['other numbers', { names: numberedNames(8) }, 'no label'],
    ['the role of a spare one', { isStandby: true }, 'standby'],
  ])('do not come up with %s at the other end', (_, far, state) => {
    expect(createServices({}, far).statesOf(0)[0]).toBe(state);
  });

  it.each([
    ['by their status', true, 'fault of the neighbour'],
    ['by withdrawal where the other end knows no status', false, 'no label'],
  ])('are interrupted %s, and come back', (_, hasStatus, state) => {
    const { services, statesOf, run } = createServices({ withdrawsAddresses: true }, { hasStatus });
    services[0].setDown(1, true);
    run(100);
    expect(statesOf(0)).toEqual(['up', 'interrupted', 'up']);
    expect(statesOf(1)).toEqual(['up', state, 'up']);
    expect(services[1].counters.addressWithdrawals).toBe(1);
    services[0].setDown(1, false);
    run(100);
    for (const index of [0, 1]) expect(statesOf(index)).toEqual(['up', 'up', 'up']);
  });

  it('end with the session, and by the thousand', () => {
    const { routers, statesOf, services, run, now } = createServices({ count: 20_000 }, { count: 20_000 });
    expect(statesOf(1).filter((state) => state === 'up')).toHaveLength(20_000);
    routers[0]?.stop(now());
    run(200);
    expect(services[1].labelOf(0)).toBe(-1);
    expect(statesOf(1)[0]).toBe('no neighbour');
  });
});
