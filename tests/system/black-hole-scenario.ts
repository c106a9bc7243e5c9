import { captureBytes, imixPackets } from '../engines/pcap-replay/capture.ts';
import { metricOf, startSystem, until, untilStatus } from './system.ts';

// Runs inside the left namespace, with the controller and the senders; the receivers are at the right, and what drops
// packets is between them.
const [, , address = '', rightNamespace = ''] = process.argv;
const system = await startSystem({}, { RUSHHOUR_HOST: '0.0.0.0' });
try {
  const { client } = system;
  const near = await system.addAgent('near');
  const far = await system.addAgent('far', { namespace: rightNamespace, url: system.url.replace('0.0.0.0', address) });
  const ends = { sources: [{ agent: { id: near.id } }], targets: [{ agent: { id: far.id } }] };
  const content = Buffer.from(captureBytes(imixPackets(100))).toString('base64');
  const { data: fileId } = await client.files.create({ body: { name: 'imix.pcap', category: 'pcap', content } });
  await until('the capture', async () => (await client.files.get({ params: { id: fileId } })).data.syncReady);

  const run = async (engine: string, pluginId: number, values: object) => {
    const { data: id } = await client.tasks.create({
      body: { comment: engine, configuration: [{ plugin: { id: pluginId }, values: { ...ends, ...values } }] } as never,
    });
    const metric = `${engine}.lost`;
    const threshold = { name: 'no loss', metric, aggregation: 'sum', window: 'all', operator: '==', value: 0 } as const;
    await client.tasks.setThresholds({ body: { id, thresholds: [threshold] } });
    const { data: started } = await client.tasks.start({ params: { id } });
    await untilStatus(client, id, [7, 8, 9]);
    const params = { id, runId: started.runId };
    const { data: result } = await client.tasks.run({ params, query: { full: true } });
    const { data } = await client.tasks.series({ params, query: { metrics: metric, agg: 'sum', step: 1 } });
    const sum = (role: 'client' | 'server', name: string) =>
      metricOf(result as never, role, `${engine}.${name}`)?.['sum'];
    return {
      verdict: result.thresholds[0]?.outcome,
      sent: sum('client', 'sent'),
      received: sum('server', 'received'),
      lost: sum('server', 'lost'),
      lossDurationMs: sum('server', 'packetLossDurationMs'),
      series: (data.series[0]?.values ?? []).reduce((total: number, value) => total + (value ?? 0), 0),
    };
  };
  const duration = { mode: 'time', seconds: 3 };
  const answer = {
    udp: await run('udp', 3, { packetsPerSecond: 500, duration }),
    stream: await run('stream', 7, { packetsPerSecond: 500, frameSize: 200, duration }),
    replay: await run('pcap-replay', 8, {
      pcapReplayParams: { fileId, loop: 10, speed: { mode: 'pps', value: 1000 } },
    }),
  };
  process.stdout.write(`${JSON.stringify(answer)}\n`);
} finally {
  await system.close();
}
process.exit(0);
