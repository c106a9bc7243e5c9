import { readdirSync } from 'node:fs';
import type { AgentFacts } from '@rushhour/protocol';
import { readText } from './proc.ts';

/** By bit, as the kernel numbers them. */
const capabilityNames = [
  ...['chown', 'dac_override', 'dac_read_search', 'fowner', 'fsetid', 'kill', 'setgid', 'setuid', 'setpcap'],
  ...['linux_immutable', 'net_bind_service', 'net_broadcast', 'net_admin', 'net_raw', 'ipc_lock', 'ipc_owner'],
  ...['sys_module', 'sys_rawio', 'sys_chroot', 'sys_ptrace', 'sys_pacct', 'sys_admin', 'sys_boot', 'sys_nice'],
  ...['sys_resource', 'sys_time', 'sys_tty_config', 'mknod', 'lease', 'audit_write', 'audit_control', 'setfcap'],
  ...['mac_override', 'mac_admin', 'syslog', 'wake_alarm', 'block_suspend', 'audit_read', 'perfmon', 'bpf'],
  'checkpoint_restore',
];

/** The names of the bits of `CapEff` in /proc/self/status. */
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

/** Whether a device is bound to one of the drivers through which programs use it past the kernel. */
const hasUserSpaceDevice = (): boolean =>
  ['vfio-pci', 'igb_uio', 'uio_pci_generic'].some((driver) =>
    entriesOf(`/sys/bus/pci/drivers/${driver}`).some((entry) => /^[0-9a-f]{4}:/.test(entry)),
  );

export const describeSystem = (): AgentFacts['system'] => {
  const hugepages = hugepagesIn(readText('/proc/meminfo'));
  return {
    caps: capabilitiesIn(readText('/proc/self/status')),
    hugepages,
    dpdk: hugepages > 0 && hasUserSpaceDevice(),
    rdmaDevices: entriesOf('/sys/class/infiniband').toSorted(),
  };
};
