import type { AttackListen, AttackServerConfig, Attempt } from '@rushhour/protocol';
import type { EngineContext, PreparedEngine } from '../../engine.ts';
import { aborted } from '../../net/loop/aborted.ts';
import { tlsObserver } from '../../net/secure-path.ts';
import { withCertificate } from '../../net/tls/tls-options.ts';
import { Contents, readAttempts } from './contents.ts';
import type { AttackListener, ServerContext, ServerOutcome } from './driver.ts';
import { parseToken } from './proof.ts';
import { driverFor } from './protocols/index.ts';
import { watchScans } from './protocols/raw/scan.ts';

/** Maximum number of reported connections that match no attempt; they may come from anywhere. */
const maxUnknown = 10_000;

/** Answers attempts as configured and reports which of them arrived, and in what state. */
export const prepareAttackServer = async (
  engine: string,
  context: EngineContext<AttackServerConfig>,
): Promise<PreparedEngine> => {
  const { config, samples, signal, note, hostNetwork } = context;
  const contents = new Contents(config.files);
  const attempts = new Map(readAttempts(config.attempts).map((attempt) => [attempt.id, attempt]));
  const received = samples.counter(`${engine}.received`);
  let startedAt = performance.now();
  let unknown = 0;
  const arrived = new Set<number>();
  const { runToken, proofKey, marker, keepAlive } = config;
  const reportSide = (outcome: ServerOutcome) => context.record({ side: 'server', ...outcome });
  const serverContext: ServerContext = {
    ...{ runToken, proofKey, marker, keepAlive, hostNetwork },
    secure: { note, ...tlsObserver(context, engine) },
    tls: withCertificate(config.tls, config.listen),
    elapsedMs: () => Math.max(0, performance.now() - startedAt),
    bytesOf: (content) => contents.bytesOf(content),
    attemptOf(token) {
      const found = parseToken(runToken, token);
      const attempt = found && attempts.get(found.attempt);
      return found && attempt && isStepOf(attempt, found.step) ? { ...found, attempt } : undefined;
    },
    hasSeen: (attempt) => arrived.has(attempt),
    attemptsOf: (service) => [...attempts.values()].filter((attempt) => attempt.service === service),
    record(outcome) {
      if (outcome.attempt === null && ++unknown > maxUnknown) return;
      if (outcome.attempt !== null && outcome.isBare !== true) {
        if (outcome.step === 0) received.add(1);
        if (isWhole(outcome)) arrived.add(outcome.attempt);
      }
      reportSide(outcome);
    },
  };
  const watch = () => watchScans([...attempts.values()], config.listen, { ...serverContext, record: reportSide });
  const closeAll = await openAll([watch, ...config.listen.map((endpoint) => () => listen(endpoint, serverContext))]);
  return {
    start() {
      startedAt = performance.now();
      return aborted(signal);
    },
    async close() {
      await closeAll();
      contents.wipe();
    },
  };
};

const listen = (endpoint: AttackListen, context: ServerContext) =>
  driverFor(endpoint.protocol).listen(endpoint, context);

/** Opens one after another, and closes them again if one fails. */
const openAll = async (opens: readonly (() => AttackListener | Promise<AttackListener>)[]) => {
  const listeners: AttackListener[] = [];
  const closeAll = () => Promise.all(listeners.splice(0).map((listener) => listener.close()));
  try {
    for (const open of opens) listeners.push(await open());
  } catch (error) {
    await closeAll();
    throw error;
  }
  return closeAll;
};

const isWhole = ({ seen }: ServerOutcome) => seen === 'full' || seen === 'modified';

const isStepOf = ({ exchange }: Attempt, step: number): boolean =>
  step < (exchange.protocol === 'http' ? exchange.steps.length : 1);
