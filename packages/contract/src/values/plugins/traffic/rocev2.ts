import { type Static, Type } from 'typebox';
import { choice, section, whole } from '../../protocols/field.ts';
import { frameMembers } from '../members/traffic-members.ts';
import { optionalInteger, optionalNumber, optionalObject, optionalText, valuesOf } from '../members/values.ts';
import { bytes, counter, errorsOf, gauge, latency, loadMetricsOf } from '../metrics.ts';
import { definePlugin } from '../plugin.ts';

const schema = valuesOf({
  ...frameMembers,
  rocev2Params: section('RDMA over converged Ethernet', {
    verb: choice('Operation', ['write', 'writeImm', 'send', 'sendImm', 'read']),
    messageSize: whole('Bytes of a message', 65_536, [1, 1_073_741_824]),
    qps: whole('Queue pairs', 1, [1, 65_536]),
    mtu: Type.Unsafe<number>({
      type: 'integer',
      enum: [256, 512, 1024, 2048, 4096],
      default: 1024,
      description: 'Path MTU',
    }),
    dscp: optionalInteger('Differentiated services code point', [0, 63]),
    ecn: optionalInteger('Explicit congestion notification bits', [0, 3]),
    udpSrcPort: optionalInteger('Source port, or the first of them', [1024, 65_535]),
    rateGbps: optionalNumber('Rate', { exclusiveMinimum: 0, maximum: 10_000 }),
    linePct: optionalNumber('Rate in percent of the line, instead of `rateGbps`', {
      exclusiveMinimum: 0,
      maximum: 100,
    }),
    inlineSize: optionalInteger('Bytes that go with the order itself', [0, 4096]),
    cnp: optionalObject('Congestion notification packets', {
      dscp: whole('Differentiated services code point', 48, [0, 63]),
      delayUs: whole('Least time between two', 4, [0, 1_000_000]),
    }),
    dcqcn: optionalObject('Rate control', {
      alphaG: optionalNumber('Weight of new alpha values', { minimum: 0, maximum: 1 }),
      initialAlpha: optionalNumber('Alpha to begin with', { minimum: 0, maximum: 1 }),
      rateReduceMinUs: optionalInteger('Least time between reductions', [0, 1_000_000]),
      timeResetUs: optionalInteger('Time between raises', [0, 1_000_000]),
      byteReset: optionalInteger('Bytes between raises', [0, 1_073_741_824]),
      additiveIncreaseMbps: optionalInteger('Step of a raise', [1, 1_000_000]),
      hyperIncreaseMbps: optionalInteger('Step of a fast raise', [1, 1_000_000]),
    }),
    retry: section('When nothing is acknowledged', {
      timeoutMs: whole('Longest wait', 67, [1, 600_000]),
      count: whole('Times it is sent again', 7, [0, 7]),
    }),
    device: optionalText('RDMA device of the agent', { maxLength: 64 }),
    gidIndex: optionalInteger('Index of the address of the device', [0, 255]),
  }),
});

export type Rocev2Values = Static<typeof schema>;

export const rocev2 = definePlugin({
  id: 14,
  name: 'rocev2',
  title: 'RoCEv2',
  description: 'RDMA operations between two agents and how congestion control treats them.',
  kind: 'traffic',
  hazard: 1,
  canPause: true,
  engines: ['rocev2'],
  schema,
  examples: [
    {
      sources: [{ agent: { id: 1 } }],
      targets: [{ agent: { id: 2 } }],
      rocev2Params: { verb: 'write', messageSize: 65_536, qps: 4 },
      duration: { mode: 'time', seconds: 10 },
    },
  ],
  metrics: [
    counter('rocev2.messages', 'Messages done', { better: 'higher' }),
    bytes('rocev2.txBytes', 'Bytes sent'),
    bytes('rocev2.rxBytes', 'Bytes received'),
    counter('rocev2.retransmits', 'Packets sent again', { better: 'lower' }),
    counter('rocev2.sequenceErrors', 'Packets out of order', { better: 'lower' }),
    counter('rocev2.cnpSent', 'Congestion notifications sent', { better: 'lower' }),
    counter('rocev2.cnpReceived', 'Congestion notifications received', { better: 'lower' }),
    counter('rocev2.ecnMarked', 'Packets marked on the way', { better: 'lower' }),
    counter('rocev2.naks', 'Refusals received', { better: 'lower' }),
    latency('rocev2.latency', 'Messages'),
    latency('rocev2.completion', 'Whole flows: all messages of a queue pair, where their number is given'),
    gauge('rocev2.queuePairs', 'Queue pairs that are connected', { better: 'higher' }),
    gauge('rocev2.rateBps', 'Rate that rate control allows', { unit: 'bit/s', better: 'higher' }),
    counter('rocev2.rnrNaks', 'Times a receiver was not ready', { better: 'lower' }),
    counter('rocev2.invalidCrc', 'Packets with a wrong check sequence', { better: 'lower' }),
    counter('rocev2.pauseFrames', 'PFC and pause frames that arrived', { better: 'lower' }),
    ...loadMetricsOf('rocev2'),
    errorsOf('rocev2'),
  ],
  requires: ['Raw frames on both agents'],
});
