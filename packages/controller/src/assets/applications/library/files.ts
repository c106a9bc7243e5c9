import { hex, le16, le32, noise, type Part, sized32, sizeOf, u8, u16, u24, u32, utf16, zeros } from './bytes.ts';
import { drawn32, field } from './field.ts';
import { type LibraryApplication, tcp, udp } from './script.ts';

const ftp = tcp(21);
const ftpData = tcp(50_021);
export const fileTransfer: LibraryApplication = {
  name: 'File transfer (FTP)',
  description: 'A file of 32 KB is fetched in passive mode, over a control and a data connection.',
  tags: 'library,file',
  recognisedAs: 'ftp',
  steps: [
    ftp.server('220 ftp.test ready\r\n'),
    ftp.client('USER ', field('user', 'anna', 'Name of the user'), '\r\n'),
    ftp.server('331 Password required\r\n'),
    ftp.client('PASS ', field('password', 'secret', 'Password of the user'), '\r\n'),
    ftp.server('230 Logged in\r\n'),
    ftp.client('TYPE I\r\n'),
    ftp.server('200 Binary\r\n'),
    ftp.client('EPSV\r\n'),
    ftp.server('229 Entering Extended Passive Mode (|||50021|)\r\n'),
    ftp.client('RETR ', field('file', 'image.bin', 'Name of the file'), '\r\n'),
    ftpData.server(noise(32_768)),
    ftp.server('150 Opening data connection\r\n226 Transfer complete\r\n'),
    ftp.client('QUIT\r\n'),
    ftp.server('221 Bye\r\n'),
  ],
};

const tftp = udp(69);
export const bootFile: LibraryApplication = {
  name: 'Boot file (TFTP)',
  description: 'A device reads its configuration in three blocks.',
  tags: 'library,file,device',
  recognisedAs: 'tftp',
  steps: [
    tftp.client(u16(1), field('file', 'phone.cfg', 'Name of the file'), u8(0), 'octet', u8(0)),
    ...[1, 2, 3].flatMap((block) => [
      tftp.server(u16(3), u16(block), noise(block < 3 ? 512 : 80, block)),
      tftp.client(u16(4), u16(block)),
    ]),
  ],
};

const smb = tcp(445);
const smb2 = (command: number, id: number, ids: readonly [number, number], body: Part, isAnswer: boolean): Part => {
  const header = [
    ...[u8(0xfe), 'SMB', le16(64), le16(1), le32(0), le16(command), le16(1), le32(isAnswer ? 1 : 0), le32(0)],
    ...[le32(id), le32(0), le32(0xfeff), le32(ids[1]), le32(ids[0]), le32(0), zeros(16)],
  ];
  return [u8(0), u24(sizeOf(header, body)), header, body];
};
type Ids = readonly [number, number];
const exchange = (command: number, id: number, ids: Ids, [ask, answer]: readonly [Part, Part]) => [
  smb.client(smb2(command, id, ids, ask, false)),
  smb.server(smb2(command, id, ids, answer, true)),
];
const share = utf16('\\\\files.test\\data');
const name = utf16('plan.odt');
const fileId = noise(16, 9);
const ntlm = ['NTLMSSP', u8(0), le32(1), le32(0xa2088207), ...[le16(0), le16(0), le32(32), le16(0), le16(0), le32(32)]];
const challenge = [
  'NTLMSSP',
  u8(0),
  le32(2),
  ...[le16(0), le16(0), le32(56), le32(0xa2088207), noise(8, 2), zeros(8), le16(0), le16(0), le32(56), zeros(8)],
];
const negotiate: [Part, Part] = [
  [le16(36), le16(2), le16(1), le16(0), le32(0x7f), noise(16, 1), zeros(8), le16(0x0202), le16(0x0210)],
  [
    ...[le16(65), le16(1), le16(0x0210), le16(0), noise(16, 2), le32(7), le32(1_048_576), le32(1_048_576)],
    ...[le32(1_048_576), zeros(8), zeros(8), le16(128), le16(0), le32(0)],
  ],
];
const setup: [Part, Part] = [
  [le16(25), u8(0, 1), le32(1), le32(0), le16(88), le16(sizeOf(ntlm)), zeros(8), ntlm],
  [le16(9), le16(0), le16(72), le16(sizeOf(challenge)), challenge],
];
const connect: [Part, Part] = [
  [le16(9), le16(0), le16(72), le16(share.length), share],
  [le16(16), u8(1, 0), le32(0x30), le32(0), le32(0x1f01ff)],
];
const create: [Part, Part] = [
  [
    ...[le16(57), u8(0, 0), le32(2), zeros(16), le32(0x12019f), le32(0), le32(7), le32(3), le32(0x40)],
    ...[le16(120), le16(name.length), le32(0), le32(0), name],
  ],
  [le16(89), u8(0, 0), le32(1), zeros(32), zeros(8), zeros(8), le32(0x20), le32(0), fileId, le32(0), le32(0)],
];
const read: [Part, Part] = [
  [le16(49), u8(0x50, 0), le32(16_384), zeros(8), fileId, le32(0), le32(0), le32(0), le16(0), le16(0), u8(0)],
  [le16(17), u8(80, 0), le32(16_384), le32(0), le32(0), noise(16_384, 4)],
];
const write: [Part, Part] = [
  [le16(49), le16(112), le32(8192), zeros(8), fileId, le32(0), le32(0), le16(0), le16(0), le32(0), noise(8192, 6)],
  [le16(17), le16(0), le32(8192), le32(0), le16(0), le16(0)],
];
const close: [Part, Part] = [
  [le16(24), le16(0), le32(0), fileId],
  [le16(60), le16(0), le32(0), zeros(52)],
];

export const fileShare: LibraryApplication = {
  name: 'File share (SMB2)',
  description: 'Negotiates, opens a share and a file, reads 16 KB, writes 8 KB and closes it.',
  tags: 'library,file,enterprise',
  recognisedAs: 'smb2',
  steps: [
    ...exchange(0, 0, [0, 0], negotiate),
    ...exchange(1, 1, [0, 0], setup),
    ...exchange(3, 2, [1, 0], connect),
    ...exchange(5, 3, [1, 1], create),
    ...exchange(8, 4, [1, 1], read),
    ...exchange(9, 5, [1, 1], write),
    ...exchange(6, 6, [1, 1], close),
  ],
};

const nfs = tcp(2049);
const call = (procedure: number, ...body: Part[]): Part => {
  const message = [
    ...[u32(0x0a0b0c00 + procedure), u32(0), u32(2), u32(100_003), u32(3), u32(procedure)],
    ...[u32(0), u32(0), u32(0), u32(0), ...body],
  ];
  return [u32(0x80000000 + sizeOf(message)), message];
};
const reply = (procedure: number, ...body: Part[]): Part => {
  const message = [u32(0x0a0b0c00 + procedure), u32(1), u32(0), u32(0), u32(0), u32(0), ...body];
  return [u32(0x80000000 + sizeOf(message)), message];
};
const handle = sized32(noise(32, 12));
const attributes = [u32(1), u32(0o644), u32(1), zeros(8), u32(0), u32(8192), u32(0), u32(8192), zeros(48)];

export const networkFileSystem: LibraryApplication = {
  name: 'Network file system (NFSv3)',
  description: 'Attributes of a file are read, then 8 KB of it.',
  tags: 'library,file,data-centre',
  recognisedAs: 'nfs',
  steps: [
    nfs.client(call(0)),
    nfs.server(reply(0)),
    nfs.client(call(1, handle)),
    nfs.server(reply(1, u32(0), attributes)),
    nfs.client(call(6, handle, zeros(8), u32(8192))),
    nfs.server(reply(6, u32(0), u32(0), u32(8192), u32(1), sized32(noise(8192, 13)))),
  ],
};

const iscsi = tcp(3260);
const loginText =
  'InitiatorName=iqn.2024-01.test.client\0SessionType=Normal\0TargetName=iqn.2024-01.test.disk\0AuthMethod=None\0';
const answerText = 'TargetPortalGroupTag=1\0AuthMethod=None\0\0';
const tag = drawn32('task', 'Tag of the task');
export const blockStorage: LibraryApplication = {
  name: 'Block storage (iSCSI)',
  description: 'Signs in to a target, reads 8 KB and writes 4 KB.',
  tags: 'library,storage,data-centre',
  recognisedAs: 'iscsi',
  steps: [
    iscsi.client(
      hex('43870000'),
      u8(0),
      u24(loginText.length),
      hex('400001370000 0000'),
      tag,
      zeros(28),
      loginText,
      zeros(-loginText.length & 3),
    ),
    iscsi.server(
      hex('23870000'),
      u8(0),
      u24(answerText.length),
      hex('400001370000 0001'),
      tag,
      u32(0),
      u32(1),
      u32(1),
      u32(64),
      zeros(12),
      answerText,
      zeros(-answerText.length & 3),
    ),
    iscsi.client(hex('01c10000'), zeros(12), tag, u32(8192), u32(1), u32(2), hex('2800000000000000100000000000 0000')),
    iscsi.server(
      hex('25810000'),
      u8(0),
      u24(8192),
      zeros(8),
      tag,
      u32(0xffffffff),
      u32(2),
      u32(2),
      u32(64),
      zeros(12),
      noise(8192, 21),
    ),
    iscsi.client(
      hex('01a10000'),
      u8(0),
      u24(4096),
      zeros(8),
      tag,
      u32(4096),
      u32(2),
      u32(3),
      hex('2a000000000000000800000000000000'),
      noise(4096, 22),
    ),
    iscsi.server(hex('21800000'), zeros(12), tag, u32(0), u32(3), u32(3), u32(64), zeros(12)),
  ],
};

const rsync = tcp(873);
export const mirrorSync: LibraryApplication = {
  name: 'Mirror (rsync)',
  description: 'The modules of an rsync server are listed.',
  tags: 'library,file',
  recognisedAs: 'rsync',
  steps: [
    rsync.server('@RSYNCD: 31.0\n'),
    rsync.client('@RSYNCD: 31.0\n', field('module', '#list', 'Name of the module'), '\n'),
    rsync.server('mirror         \tall packages\n@RSYNCD: EXIT\n'),
  ],
};

const git = tcp(9418);
const line = (text: string) => `${(text.length + 4).toString(16).padStart(4, '0')}${text}`;
const head = `${'1f'.repeat(20)} HEAD\0multi_ack side-band-64k ofs-delta agent=git/2\n`;
export const sourceCode: LibraryApplication = {
  name: 'Source code (Git)',
  description: 'The references of a repository are read.',
  tags: 'library,file,development',
  recognisedAs: 'git',
  steps: [
    git.client(line('git-upload-pack /project.git\0host=git.test\0')),
    git.server(line(head), line(`${'1f'.repeat(20)} refs/heads/main\n`), '0000'),
    git.client('0000'),
  ],
};
