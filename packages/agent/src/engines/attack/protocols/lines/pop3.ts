import type { Attempt, FileExchange } from '@rushhour/protocol';
import type { AttackRoute, ClientContext, ClientOutcome, ProofOutcome, ProtocolDriver } from '../../driver.ts';
import { proofOf, tokenOf } from '../../proof.ts';
import { LineClient, marksOf, outcomeOf, proofOutcome } from './line-client.ts';
import { type LineConnection, type LineSession, listenLines, nonceOfName } from './line-server.ts';
import { attachedFile, mailOf } from './mail-message.ts';

const ending = Buffer.from('\r\n.\r\n');
const isPositive = (reply: string | undefined): reply is string => reply?.startsWith('+OK') ?? false;

const attemptPop3 = async (attempt: Attempt, route: AttackRoute, context: ClientContext): Promise<ClientOutcome> => {
  const exchange = attempt.exchange as FileExchange;
  const content = context.bytesOf(exchange.content);
  const { token, proof } = marksOf(attempt, context);
  const client = await LineClient.open(route, context);
  let isComplete = false;
  let received: Buffer | undefined;
  const connection = async (): Promise<string | undefined> => {
    let reply = client.connection.isOpen ? await client.line() : undefined;
    for (const line of [`USER ${token}`, 'PASS x', 'RETR 1']) {
      if (!isPositive(reply)) return reply;
      isComplete = line === 'RETR 1';
      reply = (await client.send(line)) ? await client.line() : undefined;
    }
    if (!isPositive(reply)) return reply;
    const mail = await client.until(ending);
    if (mail === undefined) return undefined;
    received = attachedFile(mail) ?? mail;
    return reply;
  };
  const reply = await connection();
  return outcomeOf({ client, content, exchange, proof, isComplete, reply, received });
};

const provePop3 = async (nonce: string, route: AttackRoute, context: ClientContext): Promise<ProofOutcome> => {
  const client = await LineClient.open(route, context);
  const greeting = client.connection.isOpen ? await client.line() : undefined;
  const isSent = isPositive(greeting) && (await client.send(`USER proof-${nonce}`));
  const reply = isSent ? await client.line() : greeting;
  return proofOutcome(client, reply, proofOf(context.proofKey, nonce));
};

const giveMail = (connection: LineConnection, runToken: string): undefined => {
  const { exchange, attempt, content } = connection;
  if (exchange === undefined || attempt === undefined) return;
  connection.received = Buffer.from(exchange.name);
  connection.sent = Buffer.from(content);
  connection.sendLine('+OK a mail follows');
  connection.socket.write(
    Buffer.concat([mailOf(tokenOf(runToken, attempt.id), exchange, content), Buffer.from('.\r\n')]),
  );
};

const createSession = (runToken: string) => (): LineSession => ({
  greeting: '+OK receiver.test',
  onLine(line, connection) {
    const [verb = '', name = ''] = line.split(' ');
    switch (verb.toUpperCase()) {
      case 'USER': {
        const nonce = nonceOfName(name);
        if (nonce === undefined) return connection.identify(name) ? '+OK' : '-ERR nobody of that name';
        connection.skipReport();
        return `+OK ${connection.proofFor(nonce)}`;
      }
      case 'PASS':
        return connection.attempt === undefined ? '-ERR no' : '+OK';
      case 'STAT':
        return '+OK 1 1000';
      case 'RETR':
        return connection.attempt === undefined ? '-ERR no' : giveMail(connection, runToken);
      case 'QUIT':
        connection.socket.end();
        return '+OK';
      default:
        return '-ERR not known here';
    }
  },
});

/** Mail with the file attached, fetched by the client. */
export const pop3Driver: ProtocolDriver = {
  protocols: ['pop3'],
  attempt: attemptPop3,
  prove: provePop3,
  listen: (endpoint, context) => listenLines(endpoint, context, createSession(context.runToken)),
};
