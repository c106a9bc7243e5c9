interface SignIn {
  readonly said: readonly string[];
  /** What the server says to each. */
  readonly answered: readonly string[];
}

const base64 = (text: string) => Buffer.from(text).toString('base64');

const words: Readonly<Record<string, (user: string, password: string) => SignIn>> = {
  ftp: (user, password) => ({
    said: [`USER ${user}`, `PASS ${password}`],
    answered: ['331 go on', '530 no'],
  }),
  pop3: (user, password) => ({
    said: [`USER ${user}`, `PASS ${password}`],
    answered: ['+OK', '-ERR no'],
  }),
  imap: (user, password) => ({
    said: [`a1 LOGIN "${user}" "${password}"`],
    answered: ['a1 NO no'],
  }),
  smtp: (user, password) => ({
    said: ['EHLO client.example.test', `AUTH PLAIN ${base64(`\0${user}\0${password}`)}`],
    answered: ['250-server.example.test\r\n250 AUTH PLAIN', '535 no'],
  }),
};

/** How a client signs in, and how a server refuses it. What would end a line is no part of a name. */
export const signIn = (protocol: string, user: string, password: string): SignIn => {
  const plain = (text: string) => text.replace(/["\\\p{Cc}]/gu, '').slice(0, 200);
  return (words[protocol] ?? (words['ftp'] as (typeof words)[string]))(plain(user), plain(password));
};
