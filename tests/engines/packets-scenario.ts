import { metricOf, runToEnd, startSystem } from '../system/system.ts';

// Runs inside the left namespace: the controller and the sender are here, the receiver is at the other end of the cable.
const [, , address = '', otherNamespace = ''] = process.argv;

const system = await startSystem({}, { RUSHHOUR_HOST: '0.0.0.0' });
try {
  const near = await system.addAgent('near');
  const far = await system.addAgent('far', { namespace: otherNamespace, url: system.url.replace('0.0.0.0', address) });
  const ends = { sources: [{ agent: { id: near.id } }], targets: [{ agent: { id: far.id } }] };
  const run = async (pluginId: number, values: object) => {
    const duration = { mode: 'time', seconds: 3 };
    const task = {
      comment: 'packets',
      configuration: [{ plugin: { id: pluginId }, values: { ...ends, duration, ...values } }],
    };
    const { result } = await runToEnd(system.client, task);
    const sum = (role: 'client' | 'server', metric: string) => metricOf(result, role, metric)?.['sum'] ?? 0;
    return { result, sum };
  };
  const stream = await run(7, { packetsPerSecond: 2000, maxStreams: 10, frameSize: 200 });
  const icmp = await run(5, { packetsPerSecond: 100 });
  const answer = {
    stream: {
      status: stream.result.status,
      sent: stream.sum('client', 'stream.sent'),
      received: stream.sum('server', 'stream.received'),
      lost: stream.sum('server', 'stream.lost'),
    },
    icmp: {
      status: icmp.result.status,
      sent: icmp.sum('client', 'icmp.sent'),
      received: icmp.sum('client', 'icmp.received'),
      answered: icmp.sum('server', 'icmp.answered'),
    },
  };
  process.stdout.write(`${JSON.stringify(answer)}\n`);
} finally {
  await system.close();
}
process.exit(0);
