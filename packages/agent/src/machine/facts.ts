import { arch, availableParallelism, hostname, release, totalmem, type } from 'node:os';
import type { AgentFacts, EngineAbility } from '@rushhour/protocol';
import type { Engine, Host } from '../engine.ts';
import { agentVersion } from '../version.ts';
import { addressesIn, describeInterfaces } from './interfaces.ts';
import { readText } from './proc.ts';
import { describeSystem } from './system.ts';

const systemName = (): string => /^PRETTY_NAME="?([^"\n]+)/m.exec(readText('/etc/os-release'))?.[1] ?? type();

const abilityOf = async (engine: Engine, host: Host): Promise<EngineAbility> => {
  const about = { engine: engine.id, version: agentVersion };
  try {
    const found = await engine.check(host);
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
  /** The own address from which the controller is reached. */
  readonly controllerVia: string;
}

/** Everything the controller should know about this machine, looked up now. */
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
    engines: await Promise.all([...sources.engines.values()].map((engine) => abilityOf(engine, sources.host))),
    system: describeSystem(),
  };
};
