import { Type } from 'typebox';
import { optional } from '../../../schema.ts';
import { choice, flag, section, whole } from '../../protocols/field.ts';
import { ignored, milliseconds, optionalInteger, optionalNumber, optionalText } from './values.ts';

/** Engines with a protocol of their own decide these themselves. */
const connectionOptions = {
  noDelay: flag('Send small segments at once', true),
  closeMode: choice('Leave by FIN, or by RST', ['fin', 'rst']),
};
const keepAliveSec = whole('Time between keep-alive probes; 0 for none', 0, [0, 86_400]);

const tuning = {
  mss: optionalInteger('Largest segment', [88, 32_767]),
  window: optionalInteger('Largest receive window in bytes', [2304, 1_073_741_824]),
  congestion: optionalText('Congestion control, such as cubic or bbr', { maxLength: 15 }),
  synRetries: optionalInteger('Times a SYN is repeated', [1, 127]),
};

/** Linux sets these for the whole machine only: they need emulated hosts. */
const machineOptions = {
  sack: optional.flag('Selective acknowledgements'),
  timestamps: optional.flag('Timestamps option'),
  ecn: optional.flag('Explicit congestion notification'),
};

/** For plugins whose connections follow their own protocol. What an engine cannot set on sockets needs emulated hosts. */
export const tcpOptions = section('TCP below', {
  noDelay: ignored(Type.Optional(connectionOptions.noDelay)),
  closeMode: ignored(Type.Optional(connectionOptions.closeMode)),
  keepAliveSec: Type.Optional(keepAliveSec),
  ...tuning,
  ...machineOptions,
});

/** For the TCP plugin. */
export const tcpConfiguration = section('TCP connections', {
  mode: choice(
    'connect: open, hold, close; send: push the payload over and over; receive: read what the server sends; echo: send the payload and wait until it comes back',
    ['connect', 'send', 'receive', 'echo'],
  ),
  connections: whole('Maximum concurrent connections of all agents together', 50, [1, 10_000_000]),
  holdMs: milliseconds('Life of a connection; 0: mode connect closes at once, the others stay open', 0),
  rateBps: optionalNumber('Most bits of payload a second, all connections together, in mode send', {
    exclusiveMinimum: 0,
    maximum: 1e12,
  }),
  connectTimeoutMs: whole('Longest wait for a connection', 10_000, [1, 3_600_000]),
  ...connectionOptions,
  keepAliveSec,
  ...tuning,
  ...machineOptions,
});
