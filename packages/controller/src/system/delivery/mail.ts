import type { Settings } from '@rushhour/contract';
import { createTransport } from 'nodemailer';

export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

const timeoutMs = 10_000;

/** Sends one message through the mail server of the settings; throws when the server refuses it. */
export const sendMail = async ({ host, port, tls, user, from }: Settings['mail'], password: string, mail: Mail) => {
  const transport = createTransport({
    host,
    port,
    secure: tls === 'tls',
    requireTLS: tls === 'starttls',
    ignoreTLS: tls === 'none',
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    ...(user !== '' && { auth: { user, pass: password } }),
  });
  try {
    await transport.sendMail({ ...mail, from });
  } finally {
    transport.close();
  }
};
