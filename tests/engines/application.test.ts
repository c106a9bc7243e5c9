import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { forget, type Recording, recordNames, recordShop, stepsOf } from './application-capture.ts';
import { freePort, runOrder, startOrder, startServer } from './order.ts';

let shop: Recording;
let names: Recording;
beforeAll(async () => {
  shop = await recordShop();
  names = await recordNames();
});
afterAll(() => {
  if (shop) forget(shop);
  if (names) forget(names);
});

const parameterOf = (more: object) => ({
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

interface Wish {
  readonly recording: Recording;
  readonly play?: object;
  readonly shared?: object;
  readonly share?: object;
  /** Where the client goes when it is not the server itself. */
  readonly through?: (serverPort: number) => Promise<number>;
}

const replay = async ({ recording, play = {}, shared = {}, share = {}, through }: Wish) => {
  const port = await freePort();
  const { users } = { users: 1, ...play };
  const common = { applications: [playOf(recording, play)], ...shared };
  const listen = [{ host: '127.0.0.1', port, recorded: recording.port }];
  const server = await startServer('application', { ...common, listen });
  const reached = (await through?.(port)) ?? port;
  const client = await runOrder({
    engine: 'application',
    config: {
      role: 'client',
      ...common,
      places: [{ host: '127.0.0.1', ports: [{ recorded: recording.port, ports: [reached] }] }],
      shares: [{ firstUser: 0, users, iterations: 1, load: {}, ...share }],
    },
    duration: { seconds: 20 },
  });
  return { client, server: await server.stop() };
};

describe('a recorded application', () => {
  it('is played as it was recorded, byte for byte', async () => {
    const { client, server } = await replay({
      recording: shop,
      play: { sessions: [{ sessionIndex: 0 }, { sessionIndex: 1 }], users: 3 },
      share: { iterations: 5 },
    });
    expect(client.outcome).toMatchObject({ status: 'finished' });
    expect(client.counter('application.ok')).toBe(30);
    expect(client.counter('application.ko')).toBe(0);
    expect(client.counter('application.exchanges')).toBe(45);
    expect(client.counter('application.mismatches') + server.counter('application.mismatches')).toBe(0);
    expect(client.histogram('application.exchange').count).toBe(45);
  });

  it('is played over UDP', async () => {
    const { client, server } = await replay({ recording: names, share: { iterations: 10 } });
    expect(client.counter('application.ok')).toBe(10);
    expect(server.counter('application.mismatches')).toBe(0);
  });
});
void [parameterOf, stepsOf, startOrder];
