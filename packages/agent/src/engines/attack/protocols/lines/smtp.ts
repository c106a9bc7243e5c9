import type { Attempt, FileExchange } from '@rushhour/protocol';
import type { AttackRoute, ClientContext, ClientOutcome, ProofOutcome, ProtocolDriver } from '../../driver.ts';
import { proofOf } from '../../proof.ts';
import { LineClient, marksOf, outcomeOf, proofOutcome } from './line-client.ts';
import { type LineConnection, type LineSession, listenLines } from './line-server.ts';
import { attachedFile, mailOf } from './mail-message.ts';

const isPositive = (reply: string | undefined): reply is string => reply !== undefined && /^[23]/.test(reply);

const attemptSmtp = async (attempt: Attempt, route: AttackRoute, context: ClientContext): Promise<ClientOutcome> => {
  const exchange = attempt.exchange as FileExchange;
  const content = context.bytesOf(exchange.content);
  const { token, proof } = marksOf(attempt, context);
  const client = await LineClient.open(route, context);
  let isComplete = false;
  const connection = async (): Promise<string | undefined> => {
    const asked = ['EHLO client.test', `MAIL FROM:<${token}@sender.test>`, 'RCPT TO:<tester@receiver.test>', 'DATA'];
    let reply = client.connection.isOpen ? await client.reply() : undefined;
    for (const line of asked) {
      if (!isPositive(reply)) return reply;
      reply = await client.ask(line);
    }
    if (reply?.startsWith('354') !== true) return reply;
    isComplete = await client.connection.write(Buffer.concat([mailOf(token, exchange, content), Buffer.from('.\r\n')]));
    return client.reply();
  };
  const reply = await connection();
  return outcomeOf({ client, content, exchange, proof, isComplete, reply });
};

const proveSmtp = async (nonce: string, route: AttackRoute, context: ClientContext): Promise<ProofOutcome> => {
  const client = await LineClient.open(route, context);
  const greeting = client.connection.isOpen ? await client.reply() : undefined;
  const reply = isPositive(greeting) ? await client.ask(`NOOP ${nonce}`) : greeting;
  return proofOutcome(client, reply, proofOf(context.proofKey, nonce));
};

const takeMail = async (connection: LineConnection): Promise<string> => {
  connection.sendLine('354 go on');
  const mail = await connection.take({ ending: Buffer.from('\r\n.\r\n') });
  // A mail without its attachment counts as modified.
  connection.received = attachedFile(mail) ?? Buffer.from('nothing is attached');
  const reply = `250 taken ${connection.proof}`;
  connection.sent = Buffer.from(reply);
  return reply;
};

const createSession = (): LineSession => ({
  greeting: '220 receiver.test ESMTP',
  onLine(line, connection) {
    const [verb = '', ...rest] = line.split(' ');
    switch (verb.toUpperCase()) {
      case 'EHLO':
      case 'HELO':
        return '250 receiver.test';
      case 'MAIL':
        connection.identify(/<([^@>]+)@/.exec(line)?.[1] ?? '');
        return '250 ok';
      case 'RCPT':
      case 'RSET':
        return '250 ok';
      case 'DATA':
        return takeMail(connection);
      case 'NOOP':
        if (rest[0] === undefined) return '250 ok';
        connection.skipReport();
        return `250 ${connection.proofFor(rest[0])}`;
      case 'QUIT':
        connection.socket.end();
        return '221 bye';
      default:
        return '502 not known here';
    }
  },
});

/** Mail with the file attached, from client to server. */
export const smtpDriver: ProtocolDriver = {
  protocols: ['smtp'],
  attempt: attemptSmtp,
  prove: proveSmtp,
  listen: (endpoint, context) => listenLines(endpoint, context, createSession),
};
