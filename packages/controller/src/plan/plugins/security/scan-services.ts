import type { Attempt } from '@rushhour/protocol';
import type { AttackService } from './attack.ts';

type Draft = Omit<Attempt, 'id'>;

const listenerOn = (port: number): AttackService => ({
  ...{ service: `raw-tcp-${port}`, protocol: 'raw', transport: 'tcp', isTls: false, port },
});

const addListener = (services: Map<number, AttackService>, port: number): AttackService => {
  const service = listenerOn(port);
  services.set(port, service);
  return service;
};

/** Ports that shall be open and carry nothing else get a listener. */
const openPorts = (scans: readonly Draft[], services: Map<number, AttackService>): void => {
  for (const { exchange } of scans)
    if (exchange.protocol === 'scan' && exchange.isOpen && !services.has(exchange.port))
      addListener(services, exchange.port);
};

/**
 * Settles what scans find once all other steps have their ports: what is open, and by which service each address is
 * proven, as a closed port proves nothing.
 */
export const settleScans = (attempts: readonly Draft[], services: Map<number, AttackService>): Draft[] => {
  const scans = attempts.filter(({ exchange }) => exchange.protocol === 'scan');
  openPorts(scans, services);
  const scanned = new Set(scans.flatMap(({ exchange }) => (exchange.protocol === 'scan' ? exchange.port : [])));
  const isTcp = ({ transport }: AttackService) => transport === 'tcp';
  const known = [...services.values()].filter(isTcp);
  const proving =
    known.find(({ port }) => scanned.has(port)) ??
    known[0] ??
    [...scanned].filter((port) => !services.has(port)).map((port) => addListener(services, port))[0];
  return attempts.flatMap((attempt): Draft[] => {
    const { exchange } = attempt;
    if (exchange.protocol !== 'scan') return [attempt];
    const service = services.get(exchange.port);
    const isOpen = service !== undefined && isTcp(service);
    return proving === undefined ? [] : [{ ...attempt, service: proving.service, exchange: { ...exchange, isOpen } }];
  });
};
