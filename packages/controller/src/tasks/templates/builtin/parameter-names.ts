import type { TemplateParameter } from '@rushhour/contract';
import type { BuiltinTemplate } from './builtin-template.ts';

type Shown = Pick<TemplateParameter, 'label' | 'unit'>;

/** What forms call the parameters that many templates share. */
const names: Readonly<Record<string, Shown>> = {
  addresses: { label: 'Addresses' },
  calls: { label: 'Calls per second' },
  concurrent: { label: 'Concurrent handshakes' },
  connections: { label: 'Maximum concurrent connections' },
  cores: { label: 'Processor cores' },
  cps: { label: 'Connections per second' },
  dpdSec: { label: 'Dead peer detection interval', unit: 's' },
  flows: { label: 'Flows' },
  frameSize: { label: 'Frame size', unit: 'bytes' },
  handshakes: { label: 'Handshakes per second' },
  interface: { label: 'Interface' },
  interface2: { label: 'Second interface' },
  messages: { label: 'Messages per second' },
  messageSize: { label: 'Message size', unit: 'bytes' },
  method: { label: 'Method' },
  name: { label: 'Query name' },
  openRate: { label: 'Tunnels opened per second' },
  path: { label: 'Path' },
  pps: { label: 'Packets per second' },
  psk: { label: 'Pre-shared key' },
  qps: { label: 'Queries per second' },
  recycleAfterMs: { label: 'Recycle after', unit: 'ms' },
  rekeySec: { label: 'Rekey interval', unit: 's' },
  requestsPerConnection: { label: 'Requests per connection' },
  responseSize: { label: 'Response size', unit: 'bytes' },
  resumption: { label: 'Resumption' },
  rps: { label: 'Requests per second' },
  size: { label: 'Size', unit: 'bytes' },
  streams: { label: 'Streams per connection' },
  tunnels: { label: 'Tunnels' },
  users: { label: 'Users' },
};

/** The template with a label for every parameter. */
export const withLabels = (template: BuiltinTemplate): BuiltinTemplate => ({
  ...template,
  parameters: template.parameters.map((parameter) => ({ ...names[parameter.name], ...parameter })),
});
