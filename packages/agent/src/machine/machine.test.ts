import { AgentFacts, AgentHealth } from '@rushhour/protocol';
import { Check } from 'typebox/value';
import { describe, expect, it } from 'vitest';
import { engines } from '../engines/index.ts';
import { capabilitiesIn, collectFacts } from './facts.ts';
import { HealthMeter, parseNetDev, parseStat } from './health.ts';
import { describeHost } from './host.ts';
import { addressesIn, describeInterfaces, interfaceIdOf } from './interfaces.ts';
import { machineIdOf } from './machine-id.ts';

describe('machine', () => {
  it('describes itself by the schema of the protocol, the same every time', async () => {
    const sources = { machineId: 'm', engines, host: describeHost(), controllerVia: '127.0.0.1' };
    const facts = await collectFacts(sources);
    expect(Check(AgentFacts, facts)).toBe(true);
    expect(facts.engines.map(({ engine }) => engine)).toEqual([...engines.keys()]);
    expect((await collectFacts(sources)).interfaces).toEqual(facts.interfaces);
    expect(facts.interfaces.find(({ name }) => name === 'lo')).toMatchObject({ role: 'mgmt', usable: false });
    expect(await machineIdOf('/nonexistent')).toBe(await machineIdOf('/nonexistent'));
  });

  it('numbers interfaces by MAC and name', () => {
    const ids = ['eth0', 'eth1'].map((name) => interfaceIdOf('02:00:00:00:00:01', name));
    expect(ids[0]).toBe(interfaceIdOf('02:00:00:00:00:01', 'eth0'));
    expect(new Set(ids).size).toBe(2);
    for (const id of ids) expect(id > 0 && id < 2 ** 31).toBe(true);
  });

  it('lists addresses towards the controller first and falls back to loopback', async () => {
    const [lo] = await describeInterfaces('');
    if (lo === undefined) throw new Error('no interface at all');
    const make = (role: 'mgmt' | 'test', ips: string[]) => ({ ...lo, usable: true, role, ips });
    const interfaces = [make('test', ['10.1.0.1/24', 'fe80::1/64']), make('mgmt', ['fd00::1/64', '10.0.0.1/24'])];
    expect(addressesIn(interfaces)).toEqual(['10.0.0.1', '10.1.0.1', 'fd00::1']);
    expect(addressesIn([])).toEqual(['127.0.0.1']);
  });

  it('parses files of the kernel', () => {
    expect(parseStat('cpu  9 9 9\ncpu0 10 0 5 80 5 0 0 0\ncpu1 0 0 0 100 0 0 0 0\n')).toEqual([
      { busy: 15, all: 100 },
      { busy: 0, all: 100 },
    ]);
    const line = '  eth0: 1000 10 1 2 0 0 0 0 2000 20 0 3 0 0 0 0';
    expect(parseNetDev(`Inter-|\n face |bytes\n${line}\n`).get('eth0')).toEqual({
      ...{ rxBytes: 1000, rxPackets: 10, rxDrops: 2 },
      ...{ txBytes: 2000, txPackets: 20, txDrops: 3 },
    });
    expect(capabilitiesIn('CapEff:\t0000000000003000\n')).toEqual(['cap_net_admin', 'cap_net_raw']);
    expect(capabilitiesIn('')).toEqual([]);
  });

  it('measures its health', async () => {
    const meter = new HealthMeter('/tmp');
    await meter.take();
    for (const end = performance.now() + 150; performance.now() < end; );
    const health = await meter.take();
    expect(Check(AgentHealth, health)).toBe(true);
    expect(Math.max(...health.cpuPct)).toBeGreaterThan(10);
  });
});
