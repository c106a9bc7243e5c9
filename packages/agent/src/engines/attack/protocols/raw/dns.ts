import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import type { AttackListen, Attempt, DnsExchange } from '@rushhour/protocol';
import { bindAll, closeSockets } from '../../../../net/datagram/bind-all.ts';
import { closeServers, listenAll } from '../../../../net/transport/listen-all.ts';
import { Deframer, frame } from '../../../dns/framing.ts';
import { decodeQuery, encodeAnswer, recordTypes } from '../../../dns/message.ts';
import type {
  AttackListener,
  AttackRoute,
  ClientContext,
  ClientOutcome,
  ProtocolDriver,
  ServerContext,
} from '../../driver.ts';
import { proofOf } from '../../proof.ts';
import { ClientConnection } from '../../transport/client-connection.ts';
import { ClientDatagramSocket } from '../../transport/client-datagram-socket.ts';
import { plainIp } from '../listen-connections.ts';
import { answerHash, nonceIn, proofName, queryBytes, questionHash, recordsOf } from './dns-form.ts';

const rcodes = { NOERROR: 0, NXDOMAIN: 3 } as const;
const maxBytes = 65_535;

type Asked = Pick<ClientOutcome, 'ip' | 'port' | 'connect' | 'end' | 'ttfbMs' | 'error'> & {
  answer: Buffer | undefined;
};

const ownErrorOf = ({ ownError }: { ownError: string | undefined }) =>
  ownError === undefined ? {} : { error: ownError };

const askUdp = async (query: Buffer, route: AttackRoute): Promise<Asked> => {
  const connection = await ClientDatagramSocket.open(route);
  const isSent = await connection.send(query);
  const answer = isSent
    ? await connection.receive((bytes) => bytes.length >= 12 && bytes.readUInt16BE(0) === query.readUInt16BE(0))
    : undefined;
  const { ip, port, connect, ttfbMs, isOpen } = connection;
  connection.close();
  const end = answer !== undefined ? 'response' : isOpen ? 'timeout' : 'none';
  return { ...{ ip, port, connect, ttfbMs, end, answer }, ...ownErrorOf(connection) };
};

const askTcp = async (query: Buffer, route: AttackRoute, context: ClientContext): Promise<Asked> => {
  const connection = await ClientConnection.open(route, context);
  let answer: Buffer | undefined;
  if (connection.isOpen && (await connection.write(frame(query)))) {
    const deframer = new Deframer();
    while (answer === undefined && (await connection.more())) {
      deframer.feed(connection.take(), (message) => {
        answer ??= message;
      });
    }
  }
  connection.close();
  const { ip, port, connect, ttfbMs } = connection;
  const end = answer === undefined ? connection.end : 'response';
  return { ...{ ip, port, connect, ttfbMs, end, answer }, ...ownErrorOf(connection) };
};

const ask = (query: Buffer, route: AttackRoute, context: ClientContext): Promise<Asked> =>
  route.transport === 'udp' ? askUdp(query, route) : askTcp(query, route, context);

const hashOf = (message: Buffer): string => {
  try {
    return answerHash(message);
  } catch {
    return '';
  }
};

/** The answer of our server to the query of an attempt. */
const answerTo = (query: Buffer, { qname, qtype, rcode, answers }: DnsExchange): Buffer => {
  const records = rcode === 'NOERROR' ? recordsOf(qname, qtype, answers) : [];
  return encodeAnswer(decodeQuery(query), query, { rcode: rcodes[rcode], records, maxBytes: maxBytes });
};

const attemptDns = async (attempt: Attempt, route: AttackRoute, context: ClientContext): Promise<ClientOutcome> => {
  const exchange = attempt.exchange as DnsExchange;
  const query = queryBytes(exchange.qname, exchange.qtype, randomInt(65_536));
  const { answer, ...asked } = await ask(query, route, context);
  const rxSha256 = answer === undefined ? '' : hashOf(answer);
  return {
    ...asked,
    isComplete: asked.connect === 'ok',
    sentBytes: asked.connect === 'ok' ? query.length : 0,
    sentSha256: questionHash(exchange.qname, recordTypes[exchange.qtype] as number),
    status: answer === undefined ? 0 : answer.readUInt16BE(2) & 15,
    rxBytes: answer?.length ?? 0,
    rxSha256,
    responseIsOurs: rxSha256 !== '' && rxSha256 === hashOf(answerTo(query, exchange)),
  };
};

/** Answers and reports queries; names without an attempt are NXDOMAIN. */
const responder = (endpoint: AttackListen, context: ServerContext) => {
  const open = new Map<string, Attempt[]>();
  for (const attempt of context.attemptsOf(endpoint.service)) {
    if (attempt.exchange.protocol !== 'dns') continue;
    const key = questionHash(attempt.exchange.qname, recordTypes[attempt.exchange.qtype] as number);
    open.set(key, [...(open.get(key) ?? []), attempt]);
  }
  return (query: Buffer, ends: { ip: string; port: number; peerIp: string; peerPort: number }): Buffer => {
    const decoded = decodeQuery(query);
    const { name, type } = decoded.question;
    const nonce = nonceIn(name);
    if (nonce !== undefined) {
      const records = recordsOf(name, 'TXT', [proofOf(context.proofKey, nonce)]);
      return encodeAnswer(decoded, query, { rcode: rcodes.NOERROR, records, maxBytes: maxBytes });
    }
    const alike = open.get(questionHash(name, type)) ?? [];
    const attempt = alike.length > 1 ? alike.shift() : alike[0];
    const answer =
      attempt === undefined
        ? encodeAnswer(decoded, query, { rcode: rcodes.NXDOMAIN, records: [], maxBytes: maxBytes })
        : answerTo(query, attempt.exchange as DnsExchange);
    context.record({
      attempt: attempt?.id ?? null,
      step: 0,
      correlation: attempt === undefined ? 'none' : 'content',
      ...ends,
      seen: attempt === undefined ? 'modified' : 'full',
      rxBytes: query.length,
      rxSha256: questionHash(name, type),
      sentBytes: answer.length,
      sentSha256: answerHash(answer),
      end: 'none',
      atMs: context.elapsedMs(),
    });
    return answer;
  };
};

const listenDns = async (endpoint: AttackListen, context: ServerContext): Promise<AttackListener> => {
  const respond = responder(endpoint, context);
  if (endpoint.transport === 'udp') {
    const sockets = await bindAll([endpoint], { core: { count: 1 }, hostNetwork: context.hostNetwork }, (socket) => {
      socket.on('error', () => {});
      socket.on('message', (query, peer) => {
        const { address: ip, port } = socket.address();
        tryTo(() =>
          socket.send(
            respond(query, { ip, port, peerIp: plainIp(peer.address), peerPort: peer.port }),
            peer.port,
            peer.address,
          ),
        );
      });
    });
    return { close: () => closeSockets(sockets) };
  }
  const create = () =>
    createServer({ noDelay: true }, (socket) => {
      const deframer = new Deframer();
      const { localAddress: ip = '', localPort: port = 0, remotePort: peerPort = 0 } = socket;
      const ends = { ip, port, peerIp: plainIp(socket.remoteAddress), peerPort };
      socket.on('error', () => {});
      socket.on('data', (bytes: Buffer) =>
        deframer.feed(bytes, (query) => tryTo(() => socket.write(frame(respond(query, ends))))),
      );
    });
  const servers = await listenAll([endpoint], create, { core: { count: 1 }, hostNetwork: context.hostNetwork });
  return { close: () => closeServers(servers) };
};

/** Unreadable queries get no answer. */
const tryTo = (answer: () => void): void => {
  try {
    answer();
  } catch {}
};

/** DNS queries over UDP and TCP. */
export const dnsDriver: ProtocolDriver = {
  protocols: ['dns'],
  attempt: attemptDns,
  async prove(nonce, route, context) {
    const { ip, answer, end } = await ask(queryBytes(proofName(nonce), 'TXT', randomInt(65_536)), route, context);
    const isGood = answer?.includes(proofOf(context.proofKey, nonce)) === true;
    return { ip, isGood, detail: isGood ? '' : `no proof among the answers; end ${end}` };
  },
  listen: listenDns,
};
