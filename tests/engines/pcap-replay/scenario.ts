import { metricOf, runToEnd, startSystem, until } from '../../system/system.ts';
import { captureBytes, mixedPackets } from './capture.ts';

// Runs inside the left namespace: the controller and the client's agent are here, the server's is at the other end.
const [, , address = '', otherNamespace = ''] = process.argv;

const system = await startSystem({}, { RUSHHOUR_HOST: '0.0.0.0' });
try {
  const { client } = system;
  const near = await system.addAgent('near');
  const far = await system.addAgent('far', { namespace: otherNamespace, url: system.url.replace('0.0.0.0', address) });
  const networkOf = async (name: string, subnet: string) =>
    (await client.networks.create({ body: { name, subnet } })).data;
  const [clients, servers] = [await networkOf('clients', '10.99.1.0/24'), await networkOf('servers', '10.99.2.0/30')];
  const upload = async (name: string, bytes: Uint8Array) => {
    const content = Buffer.from(bytes).toString('base64');
    const { data: id } = await client.files.create({ body: { name, category: 'pcap', content } });
    await until('the capture to be ready', async () => (await client.files.get({ params: { id } })).data.syncReady);
    return id;
  };
  const ends = {
    sources: [{ agent: { id: near.id }, network: { id: clients } }],
    targets: [{ agent: { id: far.id }, network: { id: servers } }],
  };
  const play = async (fileId: number, params: object) => {
    const values = { ...ends, pcapReplayParams: { fileId, ...params } };
    const { result } = await runToEnd(client, { comment: 'replay', configuration: [{ plugin: { id: 8 }, values }] });
    const sum = (role: 'client' | 'server', name: string) =>
      metricOf(result, role, `pcap-replay.${name}`)?.['sum'] ?? 0;
    const counts = (role: 'client' | 'server') =>
      Object.fromEntries(['sent', 'received', 'lost', 'failed', 'loops'].map((name) => [name, sum(role, name)]));
    return { status: result.status, client: counts('client'), server: counts('server'), error: result.error };
  };
  /** By sockets, between the addresses that the agents have. */
  const playSessions = async (fileId: number) => {
    const pcapReplayParams = { fileId, mode: 'stateful', loop: 5, speed: { mode: 'max' } };
    const own = { sources: [{ agent: { id: near.id } }], targets: [{ agent: { id: far.id } }] };
    const configuration = [{ plugin: { id: 8 }, values: { ...own, pcapReplayParams } }];
    const { result } = await runToEnd(client, { comment: 'sessions', configuration });
    const sum = (name: string) => metricOf(result, 'client', `application.${name}`)?.['sum'] ?? 0;
    return { status: result.status, ok: sum('ok'), ko: sum('ko'), error: result.error };
  };
  const mixed = await upload('mixed.pcap', captureBytes(mixedPackets()));
  const empty = await upload('empty.pcap', captureBytes([]));
  const answer = {
    original: await play(mixed, { loop: 2, speed: { mode: 'original' } }),
    fast: await play(mixed, { loop: 50, speed: { mode: 'max' }, uniquePerLoop: { enabled: true } }),
    sessions: await playSessions(mixed),
    empty: await play(empty, {}).catch((error: Error) => ({ refused: error.message })),
  };
  process.stdout.write(`${JSON.stringify(answer)}\n`);
} finally {
  await system.close();
}
process.exit(0);
