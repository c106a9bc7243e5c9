import { readdirSync } from 'node:fs';
import { arch, availableParallelism, hostname, release, totalmem, type } from 'node:os';
import type { AgentFacts, EngineAbility } from '@rushhour/protocol';
import type { Availability, Engine, Host } from '../engine.ts';
import { agentVersion } from '../version.ts';
import { addressesIn, describeInterfaces } from './interfaces.ts';
import { readText } from './proc.ts';

/** In the order of the capability bits. */
const capabilityNames = [
  ...['chown', 'dac_override', 'dac_read_search', 'fowner', 'fsetid', 'kill', 'setgid', 'setuid', 'setpcap'],
  ...['linux_immutable', 'net_bind_service', 'net_broadcast', 'net_admin', 'net_raw', 'ipc_lock', 'ipc_owner'],
  ...['sys_module', 'sys_rawio', 'sys_chroot', 'sys_ptrace', 'sys_pacct', 'sys_admin', 'sys_boot', 'sys_nice'],
  ...['sys_resource', 'sys_time', 'sys_tty_config', 'mknod', 'lease', 'audit_write', 'audit_control', 'setfcap'],
  ...['mac_override', 'mac_admin', 'syslog', 'wake_alarm', 'block_suspend', 'audit_read', 'perfmon', 'bpf'],
  'checkpoint_restore',
];

/** Names of the capabilities in `CapEff` of /proc/self/status. */
export const capabilitiesIn = (status: string): string[] => {
  const mask = BigInt(`0x${/^CapEff:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? '0'}`);
  return capabilityNames.filter((_, bit) => ((mask >> BigInt(bit)) & 1n) === 1n).map((name) => `cap_${name}`);
};

const hugepagesIn = (meminfo: string): number => Number(/^HugePages_Total:\s*(\d+)$/m.exec(meminfo)?.[1] ?? 0);

const entriesOf = (folder: string): string[] => {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
};

/** Whether a device is bound to a driver for user-space networking. */
const hasUserSpaceDevice = (): boolean =>
  ['vfio-pci', 'igb_uio', 'uio_pci_generic'].some((driver) =>
    entriesOf(`/sys/bus/pci/drivers/${driver}`).some((entry) => /^[0-9a-f]{4}:/.test(entry)),
  );

const describeSystem = (): AgentFacts['system'] => {
  const hugepages = hugepagesIn(readText('/proc/meminfo'));
  return {
    caps: capabilitiesIn(readText('/proc/self/status')),
    hugepages,
    dpdk: hugepages > 0 && hasUserSpaceDevice(),
    rdmaDevices: entriesOf('/sys/class/infiniband').toSorted(),
  };
};

const systemName = (): string => /^PRETTY_NAME="?([^"\n]+)/m.exec(readText('/etc/os-release'))?.[1] ?? type();

const abilityOf = async (engine: string, check: () => Availability | Promise<Availability>): Promise<EngineAbility> => {
  const about = { engine, version: agentVersion };
  try {
    const found = await check();
    if (found.isAvailable) return { ...about, available: true, way: found.path, missing: [], reason: '' };
    return { ...about, available: false, way: '', missing: [...found.missing], reason: found.reason };
  } catch (error) {
    return { ...about, available: false, way: '', missing: [], reason: (error as Error).message };
  }
};

export interface FactSources {
  readonly machineId: string;
  readonly engines: ReadonlyMap<string, Engine>;
  readonly host: Host;
  /** Abilities that are no engines, such as emulated hosts, by name. */
  readonly checks?: Readonly<Record<string, () => Availability>>;
  /** The local address of the connection to the controller. */
  readonly controllerVia: string;
}

/** Collects the facts about this machine for the controller. */
export const collectFacts = async (sources: FactSources): Promise<AgentFacts> => {
  const interfaces = await describeInterfaces(sources.controllerVia);
  const memory = Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);
  return {
    hostname: hostname(),
    machineId: sources.machineId,
    version: agentVersion,
    os: systemName(),
    kernel: release(),
    arch: arch(),
    cpuCores: availableParallelism(),
    memoryMb: Math.round(memory / 2 ** 20),
    addresses: addressesIn(interfaces),
    interfaces,
    engines: await Promise.all([
      ...[...sources.engines.values()].map((engine) => abilityOf(engine.id, () => engine.check(sources.host))),
      ...Object.entries(sources.checks ?? {}).map(([name, check]) => abilityOf(name, check)),
    ]),
    system: describeSystem(),
  };
};
