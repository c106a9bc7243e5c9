import { hex, le16, le32, noise, type Part, sizeOf, u8, u16, u32, zeros } from './bytes.ts';
import { drawn16 } from './field.ts';
import { type LibraryApplication, tcp, udp } from './script.ts';

const plant = (name: string, description: string, recognisedAs: string, steps: LibraryApplication['steps']) => ({
  ...{ name, description, tags: 'library,ot', recognisedAs, steps },
});

const modbusPort = tcp(502);
const transaction = drawn16('transaction', 'Number of the request');
const mbap = (...parts: Part[]): Part => [transaction, u16(0), u16(sizeOf(...parts)), ...parts];
export const modbus: LibraryApplication = plant(
  ...['Modbus/TCP', 'Ten registers are read and one is written.', 'mbtcp'],
  [
    modbusPort.client(mbap(u8(1, 3), u16(100), u16(10))),
    modbusPort.server(mbap(u8(1, 3, 20), noise(20))),
    modbusPort.client(mbap(u8(1, 6), u16(100), u16(7))),
    modbusPort.server(mbap(u8(1, 6), u16(100), u16(7))),
  ],
);

/** The CRC of DNP3, of each block. */
const crcOf = (bytes: Uint8Array): Uint8Array => {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xa6bc : crc >>> 1;
  }
  return le16(~crc & 0xffff);
};
const dnp3Frame = (control: number, to: number, from: number, user: Uint8Array): Part => {
  const head = Buffer.concat([u8(0x05, 0x64, user.length + 5, control), le16(to), le16(from)]);
  return [head, crcOf(head), user, crcOf(user)];
};
const dnp3Port = tcp(20_000);
export const dnp3: LibraryApplication = plant(...['DNP3', 'A master reads class 0 data of an outstation.', 'dnp3'], [
  dnp3Port.client(dnp3Frame(0xc4, 10, 1, hex('c0c0013c0106'))),
  dnp3Port.server(dnp3Frame(0x44, 1, 10, hex('c0c081000001010000000101'))),
]);

const opcPort = tcp(4840);
const url = 'opc.tcp://plc.test:4840/';
const uaMessage = (type: string, ...parts: Part[]): Part => [type, le32(sizeOf(...parts) + 8), ...parts];
const policy = 'http://opcfoundation.org/UA/SecurityPolicy#None';
const openBody = (encoding: number): Part => [
  ...[u8(1, 0), le16(encoding), u8(0, 0), zeros(8), le32(1), le32(0), le32(0xffffffff), le32(10_000), u8(0, 0, 0)],
];
const open = (encoding: number, ...body: Part[]): Part =>
  uaMessage(
    'OPNF',
    le32(0),
    le32(policy.length),
    policy,
    le32(0xffffffff),
    le32(0xffffffff),
    le32(1),
    le32(1),
    openBody(encoding),
    ...body,
  );
export const opcUa: LibraryApplication = plant(...['OPC UA', 'A client says hello and opens a channel.', 'opcua'], [
  opcPort.client(uaMessage('HELF', le32(0), le32(65_536), le32(65_536), le32(0), le32(0), le32(url.length), url)),
  opcPort.server(uaMessage('ACKF', le32(0), le32(65_536), le32(65_536), le32(0), le32(0))),
  opcPort.client(open(446, le32(0), le32(0), le32(1), le32(0xffffffff), le32(3_600_000))),
]);

const s7Port = tcp(102);
const tpkt = (...parts: Part[]): Part => [u8(3, 0), u16(sizeOf(...parts) + 4), ...parts];
const s7Message = (kind: number, parameters: Part, data: Part = zeros(0)): Part =>
  tpkt(
    ...[hex('02f080'), u8(0x32, kind), u16(0), u16(5), u16(sizeOf(parameters)), u16(sizeOf(data))],
    ...[kind === 3 ? u16(0) : zeros(0), parameters, data],
  );
export const s7: LibraryApplication = plant(
  ...['S7 controller', 'A connection is set up and ten bytes of a data block are read.', 's7comm'],
  [
    s7Port.client(tpkt(hex('11e00000000100c0010ac1020100c2020102'))),
    s7Port.server(tpkt(hex('11d00001000200c0010ac1020100c2020102'))),
    s7Port.client(s7Message(1, hex('f0000001000101e0'))),
    s7Port.server(s7Message(3, hex('f0000001000100f0'))),
    s7Port.client(s7Message(1, hex('0401 120a1002 000a 0001 84 000000'))),
    s7Port.server(s7Message(3, hex('0401'), [hex('ff040050'), noise(10)])),
  ],
);

const bacnetPort = udp(47_808);
const bvlc = (...parts: Part[]): Part => [u8(0x81, 0x0a), u16(sizeOf(...parts) + 4), ...parts];
export const bacnet: LibraryApplication = plant(...['BACnet', 'The present value of a sensor is read.', 'bacapp'], [
  bacnetPort.client(bvlc(hex('0104'), hex('0005010c'), hex('0c00000001'), hex('1955'))),
  bacnetPort.server(bvlc(hex('0100'), hex('30010c'), hex('0c00000001'), hex('1955'), hex('3e44424800003f'))),
]);

const enipPort = tcp(44_818);
const enip = (command: number, session: number, ...parts: Part[]): Part => [
  ...[le16(command), le16(sizeOf(...parts)), le32(session), le32(0), zeros(8), le32(0), ...parts],
];
export const etherNetIp: LibraryApplication = plant(
  ...['EtherNet/IP', 'A session is registered and the identity of the device read.', 'enip'],
  [
    enipPort.client(enip(0x65, 0, le16(1), le16(0))),
    enipPort.server(enip(0x65, 0x1001, le16(1), le16(0))),
    enipPort.client(enip(0x63, 0x1001)),
    enipPort.server(enip(0x63, 0x1001, le16(0))),
  ],
);

const iecPort = tcp(2404);
const apci = (control: Uint8Array, ...parts: Part[]): Part => [u8(0x68, 4 + sizeOf(...parts)), control, ...parts];
export const iec104: LibraryApplication = plant(
  ...[
    'IEC 60870-5-104',
    'Transfer is started, a station is interrogated and answers with a measured value.',
    'iec60870_104',
  ],
  [
    iecPort.client(apci(hex('07000000'))),
    iecPort.server(apci(hex('0b000000'))),
    iecPort.client(apci(hex('00000000'), hex('64010600 0100 000000 14'))),
    iecPort.server(
      apci(hex('00000200'), hex('64010700 0100 000000 14')),
      apci(hex('02000200'), hex('0d011400 0100 010000 00004842 00')),
    ),
  ],
);

const finsPort = udp(9600);
export const fins: LibraryApplication = plant(
  ...['Omron FINS', 'Words of the memory of a controller are read.', 'omron'],
  [
    finsPort.client(hex('800002 000a00 000100 2a'), hex('0101 82 006400 0004')),
    finsPort.server(hex('c00002 000100 000a00 2a'), hex('0101 0000'), noise(8)),
  ],
);

const mqttPort = tcp(1883);
const text = (value: string): Part => [u16(value.length), value];
const packet = (type: number, ...parts: Part[]): Part => [u8(type, sizeOf(...parts)), ...parts];
export const mqtt: LibraryApplication = {
  name: 'Telemetry (MQTT)',
  description: 'A sensor connects, subscribes and publishes measurements.',
  tags: 'library,iot,ot,messaging',
  recognisedAs: 'mqtt',
  steps: [
    mqttPort.client(packet(0x10, text('MQTT'), u8(4, 2), u16(60), text('sensor-0001'))),
    mqttPort.server(packet(0x20, u8(0, 0))),
    mqttPort.client(packet(0x82, u16(1), text('commands/0001'), u8(0))),
    mqttPort.server(packet(0x90, u16(1), u8(0))),
    mqttPort.client(...[21, 22, 23].map((value) => packet(0x30, text('site/temperature'), `{"celsius":${value}}`))),
    mqttPort.server(packet(0x30, text('commands/0001'), 'fan on')),
    mqttPort.client(packet(0xe0)),
  ],
};

const coapPort = udp(5683);
const messageId = drawn16('message', 'Number of the message');
export const coap: LibraryApplication = {
  name: 'Sensor (CoAP)',
  description: 'The temperature of a sensor is read.',
  tags: 'library,iot,ot',
  recognisedAs: 'coap',
  steps: [
    coapPort.client(u8(0x44, 1), messageId, hex('a1b2c3d4'), u8(0xbb), 'temperature'),
    coapPort.server(u8(0x64, 0x45), messageId, hex('a1b2c3d4'), u8(0xc0, 0xff), '22.5 C'),
  ],
};

const amqpPort = tcp(5672);
const amqpFrame = (type: number, ...parts: Part[]): Part => [
  u8(type),
  u16(0),
  u32(sizeOf(...parts)),
  ...parts,
  u8(0xce),
];
export const amqp: LibraryApplication = {
  name: 'Message queue (AMQP)',
  description: 'A client and a broker begin a connection.',
  tags: 'library,messaging,data-centre',
  recognisedAs: 'amqp',
  steps: [
    amqpPort.client('AMQP', u8(0, 0, 9, 1)),
    amqpPort.server(amqpFrame(1, hex('000a000a 0009'), u32(0), u32(5), 'PLAIN', u32(5), 'en_US')),
    amqpPort.client(
      amqpFrame(1, hex('000a000b'), u32(0), u8(5), 'PLAIN', u32(10), u8(0), 'anna', u8(0), 'pass', u8(5), 'en_US'),
    ),
    amqpPort.server(amqpFrame(1, hex('000a001e'), u16(2047), u32(131_072), u16(60))),
    amqpPort.client(
      amqpFrame(1, hex('000a001f'), u16(2047), u32(131_072), u16(60)),
      amqpFrame(1, hex('000a0028'), u8(1), '/', u8(0, 0)),
    ),
    amqpPort.server(amqpFrame(1, hex('000a0029'), u8(0))),
  ],
};
