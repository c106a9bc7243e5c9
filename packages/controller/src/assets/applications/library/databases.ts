import {
  hex,
  le16,
  le24,
  le32,
  noise,
  type Part,
  sized16,
  sized32,
  sizedWhole32,
  sizedWholeLe32,
  sizeOf,
  u8,
  u16,
  u24,
  u32,
  utf16,
  zeros,
} from './bytes.ts';
import { drawn32, field } from './field.ts';
import { type LibraryApplication, tcp } from './script.ts';

const nul = u8(0);
const sql = (query: string) => field('query', query, 'Statement');

const postgres = tcp(5432);
const message = (type: string, ...parts: Part[]): Part => [type, sizedWhole32(...parts)];
const column = ['name', nul, u32(0), u16(0), u32(25), u16(0xffff), u32(0xffffffff), u16(0)];
const rows = Array.from({ length: 50 }, (_, index) => message('D', u16(1), sized32(`Person number ${1000 + index}`)));
export const postgresql: LibraryApplication = {
  name: 'PostgreSQL',
  description: 'A client signs in and reads fifty rows.',
  tags: 'library,database',
  recognisedAs: 'pgsql',
  steps: [
    postgres.client(sizedWhole32(u32(196_608), 'user', nul, 'app', nul, 'database', nul, 'shop', nul, nul)),
    postgres.server(message('R', u32(0)), message('S', 'server_version', nul, '16.2', nul), message('Z', 'I')),
    postgres.client(message('Q', sql('select name from people limit 50'), nul)),
    postgres.server(message('T', u16(1), column), rows, message('C', 'SELECT 50', nul), message('Z', 'I')),
    postgres.client(message('X')),
  ],
};

const mysqlPort = tcp(3306);
const packet = (sequence: number, ...parts: Part[]): Part => [le24(sizeOf(...parts)), u8(sequence), ...parts];
const counted = (text: string): Part => [u8(text.length), text];
const greeting = [
  ...[u8(10), '8.0.36', nul, le32(77), noise(8, 3).map((byte) => byte | 1), nul, le16(0xf7ff), u8(45), le16(2)],
  ...[le16(0xc1ff), u8(21), zeros(10), noise(12, 4).map((byte) => byte | 1), nul, 'mysql_native_password', nul],
];
const login = [
  ...[le32(0x000aa285), le32(16_777_216), u8(45), zeros(23), 'app', nul, u8(20), noise(20, 5), 'shop', nul],
  ...['mysql_native_password', nul],
];
const definition = ['def', 'shop', 'people', 'people', 'name', 'name'].map(counted);
const eof = hex('fe00000200');
export const mysql: LibraryApplication = {
  name: 'MySQL',
  description: 'A client signs in and reads thirty rows.',
  tags: 'library,database',
  recognisedAs: 'mysql',
  steps: [
    mysqlPort.server(packet(0, greeting)),
    mysqlPort.client(packet(1, login)),
    mysqlPort.server(packet(2, hex('00000002000000'))),
    mysqlPort.client(packet(0, u8(3), sql('select name from people limit 30'))),
    mysqlPort.server(
      packet(1, u8(1)),
      packet(2, definition, hex('0c2d00ff000000fd0000000000')),
      packet(3, eof),
      Array.from({ length: 30 }, (_, index) => packet(4 + index, counted(`Person number ${100 + index}`))),
      packet(34, eof),
    ),
    mysqlPort.client(packet(0, u8(1))),
  ],
};

const tdsPort = tcp(1433);
const tds = (type: number, ...parts: Part[]): Part => [
  u8(type, 1),
  u16(sizeOf(...parts) + 8),
  u16(0),
  u8(1, 0),
  ...parts,
];
const prelogin = [
  hex('00 0015 0006 01 001b 0001 02 001c 0001 03 001d 0004 ff'),
  hex('0f00 0000 0000'),
  u8(2),
  nul,
  u32(0),
];
export const sqlServer: LibraryApplication = {
  name: 'SQL Server (TDS)',
  description: 'The prelogin of a client and a batch of SQL.',
  tags: 'library,database,enterprise',
  recognisedAs: 'tds',
  steps: [
    tdsPort.client(tds(0x12, prelogin)),
    tdsPort.server(tds(4, prelogin)),
    tdsPort.client(tds(1, utf16('select 1'))),
    tdsPort.server(tds(4, hex('fd1000c1000100000000000000'))),
  ],
};

const redisPort = tcp(6379);
const bulk = (text: Part): Part => [`$${sizeOf(text)}\r\n`, text, '\r\n'];
const command = (...words: Part[]): Part => [`*${words.length}\r\n`, words.map(bulk)];
export const redis: LibraryApplication = {
  name: 'Redis',
  description: 'A key is written, read and deleted.',
  tags: 'library,database,cache',
  recognisedAs: 'resp',
  steps: [
    redisPort.client(
      command(
        'SET',
        'user:1',
        noise(40, 2).map((byte) => 97 + (byte % 26)),
      ),
    ),
    redisPort.server('+OK\r\n'),
    redisPort.client(command('GET', 'user:1')),
    redisPort.server(bulk(noise(40, 2).map((byte) => 97 + (byte % 26)))),
    redisPort.client(command('DEL', 'user:1')),
    redisPort.server(':1\r\n'),
  ],
};

const mongoPort = tcp(27_017);
const requestId = drawn32('requestId', 'Number of the request', 'u32le');
const bson = (...parts: Part[]): Part => sizedWholeLe32(...parts, nul);
const element = (name: string, value: string): Part => [u8(2), name, nul, le32(value.length + 1), value, nul];
const opMsg = (id: Part, to: Part, ...parts: Part[]): Part =>
  sizedWholeLe32(id, to, le32(2013), le32(0), nul, bson(...parts));
export const mongodb: LibraryApplication = {
  name: 'MongoDB',
  description: 'A document is found in a collection.',
  tags: 'library,database',
  recognisedAs: 'mongo',
  steps: [
    mongoPort.client(opMsg(requestId, le32(0), element('find', 'people'), element('$db', 'shop'))),
    mongoPort.server(opMsg(le32(99), requestId, element('name', 'Ada'), element('city', 'Bern'))),
  ],
};

const cqlPort = tcp(9042);
const cqlFrame = (version: number, opcode: number, ...parts: Part[]): Part => [
  u8(version, 0, 0, 1, opcode),
  sized32(...parts),
];
export const cassandra: LibraryApplication = {
  name: 'Cassandra (CQL)',
  description: 'A client starts and asks a query.',
  tags: 'library,database',
  recognisedAs: 'cql',
  steps: [
    cqlPort.client(cqlFrame(4, 1, u16(1), sized16('CQL_VERSION'), sized16('3.0.0'))),
    cqlPort.server(cqlFrame(0x84, 2)),
    cqlPort.client(cqlFrame(4, 7, sized32('select name from shop.people'), u16(1), nul)),
    cqlPort.server(cqlFrame(0x84, 8, u32(1))),
  ],
};

const cachePort = tcp(11_211);
export const memcached: LibraryApplication = {
  name: 'Memcached',
  description: 'A value is stored and read.',
  tags: 'library,database,cache',
  recognisedAs: 'memcache',
  steps: [
    cachePort.client('set greeting 0 60 5\r\nhello\r\n'),
    cachePort.server('STORED\r\n'),
    cachePort.client('get ', field('key', 'greeting', 'Key to read'), '\r\n'),
    cachePort.server('VALUE greeting 0 5\r\nhello\r\nEND\r\n'),
  ],
};

const oraclePort = tcp(1521);
const connectData = '(DESCRIPTION=(CONNECT_DATA=(SERVICE_NAME=shop))(ADDRESS=(PROTOCOL=TCP)(HOST=db.test)(PORT=1521)))';
const tns = (type: number, ...parts: Part[]): Part => [
  u16(sizeOf(...parts) + 8),
  u16(0),
  u8(type, 0),
  u16(0),
  ...parts,
];
export const oracle: LibraryApplication = {
  name: 'Oracle (TNS)',
  description: 'A client connects; the listener accepts.',
  tags: 'library,database,enterprise',
  recognisedAs: 'tns',
  steps: [
    oraclePort.client(
      tns(
        1,
        hex('0136012c00000800 7fff860e0000 0100'),
        u16(connectData.length),
        u16(58),
        u32(0),
        u8(0x41, 0x41),
        zeros(24),
        connectData,
      ),
    ),
    oraclePort.server(tns(2, hex('013600000800 7fff 0100 0000 0020 0000'), u24(0), nul)),
  ],
};

const kafkaPort = tcp(9092);
const first = drawn32('first', 'Number of the first request');
const second = { ...drawn32('second', 'Number of the second request'), recorded: u32(0x12345679) };
export const kafka: LibraryApplication = {
  name: 'Kafka',
  description: 'A client asks for versions and for the topics of a broker.',
  tags: 'library,messaging,data-centre',
  recognisedAs: 'kafka',
  steps: [
    kafkaPort.client(sized32(u16(18), u16(0), first, sized16('client'))),
    kafkaPort.server(sized32(first, u16(0), u32(1), u16(18), u16(0), u16(3))),
    kafkaPort.client(sized32(u16(3), u16(0), second, sized16('client'), u32(1), sized16('orders'))),
    kafkaPort.server(
      sized32(second, u32(1), u32(1), sized16('broker.test'), u32(9092), u32(1), u16(0), sized16('orders'), u32(0)),
    ),
  ],
};
