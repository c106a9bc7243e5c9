import { hex, noise, type Part, sized16, sizeOf, u8, u16, u24, u32, zeros } from './bytes.ts';
import { field } from './field.ts';
import { type LibraryApplication, tcp, udp } from './script.ts';

const sip = udp(5060);
const rtp = udp(20_000);
const caller = field('caller', 'anna', 'Name of the caller');
const callee = field('callee', 'bob', 'Name of the called person');
const description =
  'v=0\r\no=- 1 1 IN IP4 10.2.0.1\r\ns=call\r\nc=IN IP4 10.2.0.1\r\nt=0 0\r\nm=audio 20000 RTP/AVP 0\r\na=rtpmap:0 PCMU/8000\r\n';
const sipMessage = (first: Part, method: string, sequence: number, body = ''): Part => [
  ...[first, '\r\nVia: SIP/2.0/UDP 10.1.0.1:5060;branch=z9hG4bK7\r\nMax-Forwards: 70\r\nFrom: <sip:', caller],
  ...[
    '@pbx.test>;tag=1\r\nTo: <sip:',
    callee,
    `@pbx.test>;tag=2\r\nCall-ID: 77@pbx.test\r\nCSeq: ${sequence} ${method}\r\n`,
  ],
  ...[`Contact: <sip:line@pbx.test>\r\n${body === '' ? '' : 'Content-Type: application/sdp\r\n'}`],
  `Content-Length: ${body.length}\r\n\r\n${body}`,
];
const ask = (method: string, sequence: number, body = ''): Part =>
  sipMessage([`${method} sip:`, callee, '@pbx.test SIP/2.0'], method, sequence, body);
const audio = (sequence: number): Part => [
  u8(0x80, 0),
  u16(sequence),
  u32(sequence * 160),
  u32(0x5eed),
  noise(160, sequence + 1),
];

export const phoneCall: LibraryApplication = {
  name: 'Voice call (SIP and RTP)',
  description: 'A call is set up, talks for twenty packets both ways and is ended.',
  tags: 'library,voice',
  recognisedAs: 'sip',
  steps: [
    sip.client(ask('INVITE', 1, description)),
    sip.server(sipMessage('SIP/2.0 180 Ringing', 'INVITE', 1)),
    sip.server(sipMessage('SIP/2.0 200 OK', 'INVITE', 1, description)),
    sip.client(ask('ACK', 1)),
    ...Array.from({ length: 20 }, (_, index) => [rtp.client(audio(index)), rtp.server(audio(index))]).flat(),
    sip.client(ask('BYE', 2)),
    sip.server(sipMessage('SIP/2.0 200 OK', 'BYE', 2)),
  ],
};

export const phoneRegistration: LibraryApplication = {
  name: 'Phone registration (SIP)',
  description: 'A phone registers with its exchange.',
  tags: 'library,voice',
  recognisedAs: 'sip',
  steps: [sip.client(ask('REGISTER', 1)), sip.server(sipMessage('SIP/2.0 200 OK', 'REGISTER', 1))],
};

const rtsp = tcp(554);
const camera = 'rtsp://camera.test/live';
const rtspAsk = (method: string, sequence: number, more = '') =>
  rtsp.client(`${method} ${camera} RTSP/1.0\r\nCSeq: ${sequence}\r\n${more}\r\n`);
const rtspAnswer = (sequence: number, more: string, body = '') =>
  rtsp.server(`RTSP/1.0 200 OK\r\nCSeq: ${sequence}\r\n${more}\r\n${body}`);
const session = 'Session: 12345678\r\n';
export const cameraStream: LibraryApplication = {
  name: 'Camera stream (RTSP)',
  description: 'A camera is asked for its stream, played and stopped.',
  tags: 'library,video,voice',
  recognisedAs: 'rtsp',
  steps: [
    rtspAsk('OPTIONS', 1),
    rtspAnswer(1, 'Public: DESCRIBE, SETUP, PLAY, TEARDOWN\r\n'),
    rtspAsk('DESCRIBE', 2),
    rtspAnswer(2, `Content-Type: application/sdp\r\nContent-Length: ${description.length}\r\n`, description),
    rtspAsk('SETUP', 3, 'Transport: RTP/AVP/TCP;interleaved=0-1\r\n'),
    rtspAnswer(3, `${session}Transport: RTP/AVP/TCP;interleaved=0-1\r\n`),
    rtspAsk('PLAY', 4, session),
    rtspAnswer(4, session),
    rtspAsk('TEARDOWN', 5, session),
    rtspAnswer(5, session),
  ],
};

const mgcp = udp(2427);
export const callGateway: LibraryApplication = {
  name: 'Voice gateway (MGCP)',
  description: 'A gateway is audited.',
  tags: 'library,voice',
  recognisedAs: 'mgcp',
  steps: [mgcp.client('AUEP 1200 aaln/1@gw.test MGCP 1.0\r\nF: A\r\n'), mgcp.server('200 1200 OK\r\nA: a:PCMU\r\n')],
};

const stun = udp(3478);
const binding = (type: number, ...attributes: Part[]): Part => [
  ...[u16(type), u16(sizeOf(...attributes)), hex('2112a442'), noise(12, 7), ...attributes],
];
export const stunBinding: LibraryApplication = {
  name: 'WebRTC binding (STUN)',
  description: 'A browser asks for its outer address.',
  tags: 'library,voice,web',
  recognisedAs: 'stun',
  steps: [
    stun.client(binding(1, u16(0x8022), sized16('client..'))),
    stun.server(binding(0x101, u16(0x20), sized16(hex('0001a147'), hex('e112a643')))),
  ],
};

const chat = tcp(5222);
export const instantMessaging: LibraryApplication = {
  name: 'Instant messaging (XMPP)',
  description: 'A stream is opened, a message sent and the stream closed.',
  tags: 'library,chat',
  recognisedAs: 'xmpp',
  steps: [
    chat.client(
      "<?xml version='1.0'?><stream:stream to='chat.test' xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams' version='1.0'>",
    ),
    chat.server(
      "<?xml version='1.0'?><stream:stream from='chat.test' id='1' xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams' version='1.0'><stream:features/>",
    ),
    chat.client(
      "<message to='bob@chat.test' type='chat'><body>",
      field('text', 'hello', 'Text of the message'),
      '</body></message>',
    ),
    chat.server("<message to='anna@chat.test' type='chat'><body>hello back</body></message>"),
    chat.client('</stream:stream>'),
  ],
};

const irc = tcp(6667);
export const groupChat: LibraryApplication = {
  name: 'Group chat (IRC)',
  description: 'A user joins a channel and writes.',
  tags: 'library,chat',
  recognisedAs: 'irc',
  steps: [
    irc.client('NICK ', field('nick', 'anna', 'Name of the user'), '\r\nUSER a 0 * :Anna\r\n'),
    irc.server(':irc.test 001 anna :Welcome\r\n'),
    irc.client('JOIN #ops\r\nPRIVMSG #ops :morning\r\n'),
    irc.server(':anna!a@host JOIN #ops\r\n'),
    irc.client('QUIT\r\n'),
  ],
};

const game = udp(27_960);
const outOfBand = u32(0xffffffff);
export const gameServer: LibraryApplication = {
  name: 'Game server query',
  description: 'A player asks a game server for its state.',
  tags: 'library,gaming',
  recognisedAs: 'quake3',
  steps: [
    game.client(outOfBand, 'getstatus\n', u8(0)),
    game.server(outOfBand, 'statusResponse\n\\mapname\\arena\\sv_maxclients\\16\n5 20 "anna"\n', u8(0)),
  ],
};

export const gameTraffic: LibraryApplication = {
  name: 'Game traffic',
  description: 'Thirty small updates both ways, as an action game sends them.',
  tags: 'library,gaming',
  recognisedAs: 'quake3',
  steps: [
    game.client(outOfBand, 'getinfo\n', u8(0)),
    game.server(outOfBand, 'infoResponse\n\\clients\\3\\mapname\\arena\n', u8(0)),
    ...Array.from({ length: 30 }, (_, index) => [
      game.client(u32(index + 1), u16(1), noise(60, index + 1)),
      game.server(u32(index + 1), noise(180, index + 2)),
    ]).flat(),
  ],
};

const torrent = tcp(6881);
const handshake = (peer: string): Part => [u8(19), 'BitTorrent protocol', zeros(8), noise(20, 33), `-RH0100-${peer}`];
export const peerToPeer: LibraryApplication = {
  name: 'Peer to peer (BitTorrent)',
  description: 'Two peers greet each other and exchange a piece of 16 KB.',
  tags: 'library,p2p,file',
  recognisedAs: 'bittorrent',
  steps: [
    torrent.client(handshake('000000000001')),
    torrent.server(handshake('000000000002'), hex('00000002 05ff'), hex('00000001 01')),
    torrent.client(hex('00000001 02'), hex('0000000d 06 00000000 00000000 00004000')),
    torrent.server(u32(16_393), u8(7), u32(0), u32(0), noise(16_384, 34)),
  ],
};

const dht = udp(6881);
export const peerSearch: LibraryApplication = {
  name: 'Peer search (BitTorrent DHT)',
  description: 'A node pings another.',
  tags: 'library,p2p',
  recognisedAs: 'bt-dht',
  steps: [
    dht.client('d1:ad2:id20:abcdefghij0123456789e1:q4:ping1:t2:aa1:y1:qe'),
    dht.server('d1:rd2:id20:mnopqrstuvwxyz123456e1:t2:aa1:y1:re'),
  ],
};

const short = tcp(2775);
const bind = [zeros(4), 'anna', u8(0), 'secret', u8(0), 'esme', u8(0), hex('34000000')];
const pdu = (command: number, ...body: Part[]): Part => [
  u32(16 + sizeOf(...body)),
  u32(command),
  u32(0),
  u32(1),
  ...body,
];
export const shortMessages: LibraryApplication = {
  name: 'Short messages (SMPP)',
  description: 'A gateway binds, sends a text message and leaves.',
  tags: 'library,mobile,messaging',
  recognisedAs: 'smpp',
  steps: [
    short.client(pdu(9, bind.slice(1))),
    short.server(pdu(0x80000009, 'smsc', u8(0))),
    short.client(
      pdu(4, u8(0, 1, 1), '41790000001', u8(0, 1, 1), '41790000002', u8(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5), 'hello'),
    ),
    short.server(pdu(0x80000004, 'm1', u8(0))),
    short.client(pdu(6)),
    short.server(pdu(0x80000006)),
  ],
};

const gtp = udp(2123);
const gtpMessage = (type: number, sequence: number, ...elements: Part[]): Part => [
  ...[u8(0x40, type), u16(sizeOf(...elements) + 4), u24(sequence), u8(0), ...elements],
];
export const mobileCoreEcho: LibraryApplication = {
  name: 'Mobile core echo (GTPv2)',
  description: 'Two gateways of a mobile core test their path.',
  tags: 'library,mobile',
  recognisedAs: 'gtpv2',
  steps: [gtp.client(gtpMessage(1, 9, hex('0300010005'))), gtp.server(gtpMessage(2, 9, hex('0300010007')))],
};
