import { setTimeout as sleep } from 'node:timers/promises';
import { ControlPlaneConfig } from '@rushhour/protocol';
import type { Commandable, Engine, EngineContext, PreparedEngine } from '../engine.ts';
import { aborted } from '../net/loop/aborted.ts';
import { openHostNetwork } from '../stack/host-network.ts';
import { checkStack } from '../stack/ports/open-stack.ts';
import { ControlPlane } from './control-plane.ts';
import { isLinkLocalAddress, planRouters } from './routers/plan-routers.ts';
import { readRouteTables } from './routers/route-files.ts';

/** Time for the last messages to reach the neighbours. */
const closeGraceMs = 300;

/** Whom routers speak to on purpose. Link-local neighbours are on the link, as all that hear the groups of a protocol. */
const neighboursOf = ({ profiles }: ControlPlaneConfig): string[] => {
  const configs = Object.values(profiles).flat() as {
    session?: { peerAddress?: string };
    targeted?: { peers: string[] };
    interface?: { neighbours?: string[] };
  }[];
  const all = configs.flatMap(({ session, targeted, interface: link }) =>
    [session?.peerAddress ?? [], targeted?.peers ?? [], link?.neighbours ?? []].flat(),
  );
  return [...new Set(all)].filter((address) => !isLinkLocalAddress(address));
};

const prepare = async (context: EngineContext<ControlPlaneConfig>): Promise<PreparedEngine & Commandable> => {
  const { config, host, note, samples, signal, progress } = context;
  const plane = new ControlPlane(planRouters(config), {
    openNetwork: (stack) => openHostNetwork(stack, { host, note, samples }),
    putRow: (table, row) => context.putRow(table, row),
    samples,
    tables: await readRouteTables(config, note),
    progress,
    note,
  });
  await plane.listen();
  return {
    async start() {
      plane.start();
      await aborted(signal);
      plane.stop();
      await sleep(closeGraceMs);
    },
    command: (command) => plane.command(command),
    close: () => plane.close(),
  };
};

/** Emulated routers: the control plane of a task. */
export const controlPlane: Engine<ControlPlaneConfig> = {
  id: 'plane.control',
  config: ControlPlaneConfig,
  targetsOf: neighboursOf,
  check: async () => checkStack(),
  prepare,
};
