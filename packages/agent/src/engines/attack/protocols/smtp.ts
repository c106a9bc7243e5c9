import type { Attempt, FileExchange } from '@rushhour/protocol';
import type { AttackRoute, ClientScene, ClientSight, ProofSight, ProtocolDriver } from '../driver.ts';
import { proofOf } from '../proof.ts';
import { LineClient, marksOf, sightOf } from './line-client.ts';
import { type LineSession, listenLines, type Talk } from './line-server.ts';
import { attachedFile, mailOf } from './mail-message.ts';

const isFine = (reply: string | undefined): reply is string => reply !== undefined && /^[23]/.test(reply);

const attemptSmtp = async (attempt: Attempt, route: AttackRoute, scene: ClientScene): Promise<ClientSight> => {
  const exchange = attempt.exchange as FileExchange;
  const content = scene.bytesOf(exchange.content);
  const { token, proof } = marksOf(attempt, scene);
  const client = await LineClient.open(route, scene);
  let isComplete = false;
  const talk = async (): Promise<string | undefined> => {
    const asked = ['EHLO client.test', `MAIL FROM:<${token}@sender.test>`, 'RCPT TO:<tester@receiver.test>', 'DATA'];
    let reply = client.dialog.isOpen ? await client.reply() : undefined;
    for (const line of asked) {
      if (!isFine(reply)) return reply;
      reply = await client.ask(line);
    }
    if (reply?.startsWith('354') !== true) return reply;
    isComplete = await client.dialog.write(Buffer.concat([mailOf(token, exchange, content), Buffer.from('.\r\n')]));
    return client.reply();
  };
  const reply = await talk();
  return sightOf({ client, content, exchange, proof, isComplete, reply });
};

const proveSmtp = async (nonce: string, route: AttackRoute, scene: ClientScene): Promise<ProofSight> => {
  const client = await LineClient.open(route, scene);
  const greeting = client.dialog.isOpen ? await client.reply() : undefined;
  const reply = isFine(greeting) ? await client.ask(`NOOP ${nonce}`) : greeting;
  const isGood = reply?.includes(proofOf(scene.proofKey, nonce)) ?? false;
  client.dialog.close();
  return { ip: client.dialog.ip, isGood, detail: isGood ? '' : (reply ?? client.dialog.end) };
};

const takeMail = async (talk: Talk): Promise<string> => {
  talk.say('354 go on');
  const mail = await talk.take({ ending: Buffer.from('\r\n.\r\n') });
  // A mail without its file arrived as well: changed.
  talk.received = attachedFile(mail) ?? Buffer.from('nothing is attached');
  const reply = `250 taken ${talk.proof}`;
  talk.sent = Buffer.from(reply);
  return reply;
};

const createSession = (): LineSession => ({
  greeting: '220 receiver.test ESMTP',
  onLine(line, talk) {
    const [verb = '', ...rest] = line.split(' ');
    switch (verb.toUpperCase()) {
      case 'EHLO':
      case 'HELO':
        return '250 receiver.test';
      case 'MAIL':
        talk.recognise(/<([^@>]+)@/.exec(line)?.[1] ?? '');
        return '250 ok';
      case 'RCPT':
      case 'RSET':
        return '250 ok';
      case 'DATA':
        return takeMail(talk);
      case 'NOOP':
        if (rest[0] === undefined) return '250 ok';
        talk.hush();
        return `250 ${talk.proofFor(rest[0])}`;
      case 'QUIT':
        talk.socket.end();
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
  listen: (place, scene) => listenLines(place, scene, createSession),
};
