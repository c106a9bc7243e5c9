import { noise } from './bytes.ts';
import { field } from './field.ts';
import { type LibraryApplication, tcp } from './script.ts';

const from = field('from', 'anna@example.test', 'Sender of the mail');
const to = field('to', 'bob@example.test', 'Recipient of the mail');
const subject = field('subject', 'Minutes of the meeting', 'Subject of the mail');
const text = 'Dear Bob,\r\nplease find the minutes below.\r\n'.repeat(20);
const attachment = Buffer.from(noise(15_000))
  .toString('base64')
  .replaceAll(/(.{76})/g, '$1\r\n');

type Server = ReturnType<typeof tcp>;

const greeting = (server: Server): LibraryApplication['steps'] => [
  server.server('220 mail.test ESMTP\r\n'),
  server.client('EHLO client.test\r\n'),
  server.server('250-mail.test\r\n250-SIZE 52428800\r\n250 AUTH PLAIN LOGIN\r\n'),
];
const delivery = (server: Server, body: string): LibraryApplication['steps'] => [
  server.client('MAIL FROM:<', from, '>\r\n'),
  server.server('250 2.1.0 Ok\r\n'),
  server.client('RCPT TO:<', to, '>\r\n'),
  server.server('250 2.1.5 Ok\r\n'),
  server.client('DATA\r\n'),
  server.server('354 End data with <CR><LF>.<CR><LF>\r\n'),
  server.client('From: <', from, '>\r\nTo: <', to, '>\r\nSubject: ', subject, `\r\n${body}\r\n.\r\n`),
  server.server('250 2.0.0 Ok: queued as 4F2A1\r\n'),
  server.client('QUIT\r\n'),
  server.server('221 2.0.0 Bye\r\n'),
];

const relay = tcp(25);
export const mailDelivery: LibraryApplication = {
  name: 'Mail delivery (SMTP)',
  description: 'A short mail is delivered.',
  tags: 'library,mail',
  recognisedAs: 'smtp',
  steps: [...greeting(relay), ...delivery(relay, `Content-Type: text/plain\r\n\r\n${text}`)],
};

const submission = tcp(587);
const file = `MIME-Version: 1.0\r\nContent-Type: application/pdf\r\nContent-Transfer-Encoding: base64\r\n\r\n${attachment}`;
export const mailWithAttachment: LibraryApplication = {
  name: 'Mail with attachment (SMTP AUTH)',
  description: 'A user signs in and sends a mail with an attachment of 15 KB.',
  tags: 'library,mail,file',
  recognisedAs: 'imf',
  steps: [
    ...greeting(submission),
    submission.client('AUTH PLAIN ', field('credentials', 'AGFubmEAc2VjcmV0', 'Name and password in base64'), '\r\n'),
    submission.server('235 2.7.0 Authentication successful\r\n'),
    ...delivery(submission, file),
  ],
};

const user = field('user', 'anna', 'Name of the user');
const password = field('password', 'secret', 'Password of the user');
const message = `From: <bob@example.test>\r\nTo: <anna@example.test>\r\nSubject: Lunch\r\n\r\n${text}`;

const imap = tcp(143);
export const mailReadingImap: LibraryApplication = {
  name: 'Mail reading (IMAP)',
  description: 'A folder is opened and one mail read.',
  tags: 'library,mail',
  recognisedAs: 'imap',
  steps: [
    imap.server('* OK [CAPABILITY IMAP4rev1] mail.test ready\r\n'),
    imap.client('a1 LOGIN ', user, ' ', password, '\r\n'),
    imap.server('a1 OK Logged in\r\n'),
    imap.client('a2 SELECT INBOX\r\n'),
    imap.server('* 3 EXISTS\r\n* 0 RECENT\r\n* FLAGS (\\Seen)\r\na2 OK [READ-WRITE] done\r\n'),
    imap.client('a3 FETCH 1 (BODY[])\r\n'),
    imap.server(`* 1 FETCH (BODY[] {${message.length}}\r\n${message})\r\na3 OK done\r\n`),
    imap.client('a4 LOGOUT\r\n'),
    imap.server('* BYE\r\na4 OK done\r\n'),
  ],
};

const pop = tcp(110);
export const mailReadingPop: LibraryApplication = {
  name: 'Mail reading (POP3)',
  description: 'One mail is fetched and deleted.',
  tags: 'library,mail',
  recognisedAs: 'pop',
  steps: [
    pop.server('+OK mail.test ready\r\n'),
    pop.client('USER ', user, '\r\n'),
    pop.server('+OK\r\n'),
    pop.client('PASS ', password, '\r\n'),
    pop.server('+OK Logged in.\r\n'),
    pop.client('STAT\r\n'),
    pop.server(`+OK 1 ${message.length}\r\n`),
    pop.client('RETR 1\r\n'),
    pop.server(`+OK ${message.length} octets\r\n${message}\r\n.\r\n`),
    pop.client('DELE 1\r\n'),
    pop.server('+OK\r\n'),
    pop.client('QUIT\r\n'),
    pop.server('+OK Bye\r\n'),
  ],
};

const news = tcp(119);
export const newsgroup: LibraryApplication = {
  name: 'News (NNTP)',
  description: 'A group is chosen and an article read.',
  tags: 'library,mail',
  recognisedAs: 'nntp',
  steps: [
    news.server('200 news.test ready\r\n'),
    news.client('GROUP ', field('group', 'test.network', 'Name of the group'), '\r\n'),
    news.server('211 1 1 1 test.network\r\n'),
    news.client('ARTICLE 1\r\n'),
    news.server(`220 1 <1@news.test>\r\nSubject: Hello\r\n\r\n${text}.\r\n`),
    news.client('QUIT\r\n'),
    news.server('205 bye\r\n'),
  ],
};
