import { freePort } from '../../process/free-port.ts';
import { type JobOptions, runJob, startServer } from '../job.ts';
import type { Recording } from './capture.ts';
import type { Middlebox } from './proxies.ts';

/** A parameter of a job; a fixed value by default. */
export const parameterOf = (more: object) => ({
  ...{ id: 1, name: 'user', type: 'string', source: 'fixed', prefix: '', defaultValue: '', min: '', max: '' },
  ...{ start: '', step: '', allowedValues: [], stepsMappings: [] },
  ...more,
});

const playOf = ({ file }: Recording, more: object = {}) => ({
  ...{ name: 'recorded', capture: file, sessions: [{ sessionIndex: 0 }], speed: { mode: 'max' }, users: 1 },
  seed: 'a',
  timeoutMs: 2000,
  ...more,
});

interface ReplayOptions {
  readonly recording: Recording;
  readonly play?: object;
  readonly shared?: object;
  readonly share?: object;
  /** Each user has its own port. */
  readonly hasSlots?: boolean;
  /** Further members of the client's configuration. */
  readonly more?: object;
  /** Further members of the server's configuration. */
  readonly serving?: object;
  readonly duration?: JobOptions['duration'];
  /** The port the client connects to, if not the server's. */
  readonly through?: (serverPort: number) => Promise<Middlebox>;
}

const slotsOf = async (count: number): Promise<number[]> => {
  const ports: number[] = [];
  for (let slot = 0; slot < count; slot++) ports.push(await freePort());
  return ports;
};

/** Plays a recording between a client and a server in this process. */
export const replay = async (options: ReplayOptions) => {
  const { recording, play = {}, shared = {}, share = {}, more = {}, duration = { seconds: 20 }, through } = options;
  const port = await freePort();
  const { users } = { users: 1, ...play };
  const common = { applications: [playOf(recording, play)], ...shared };
  const slots = await slotsOf(options.hasSlots === true ? users : 0);
  const recorded = recording.port;
  const own = slots.map((slotPort, slot) => ({ host: '127.0.0.1', port: slotPort, recorded, slot }));
  const listen = own.length > 0 ? own : [{ host: '127.0.0.1', port, recorded }];
  const server = await startServer('application', { ...common, ...options.serving, listen });
  const proxy = await through?.(port);
  const reached = proxy?.port ?? port;
  const client = await runJob({
    engine: 'application',
    config: {
      role: 'client',
      ...common,
      targets: [{ host: '127.0.0.1', ports: [{ recorded, ports: slots.length > 0 ? slots : [reached] }] }],
      ...more,
      shares: [{ firstUser: 0, users, iterations: 1, load: {}, ...share }],
    },
    duration,
  });
  const answered = await server.stop();
  await proxy?.stop();
  return { client, server: answered, notes: [...client.outcome.notes, ...answered.outcome.notes] };
};
