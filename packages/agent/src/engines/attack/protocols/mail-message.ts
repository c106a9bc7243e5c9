import type { FileExchange } from '@rushhour/protocol';

const boundary = 'part-of-a-carried-file';
const lineBytes = 76;

const wrapped = (text: string) => text.match(new RegExp(`.{1,${lineBytes}}`, 'g'))?.join('\r\n') ?? '';
const plainName = (name: string) => name.replace(/[^\x20-\x7e]|["\\]/g, '_');

/** A mail with the file attached. Lines end with CR LF; none starts with a dot. */
export const mailOf = (token: string, { name, contentType }: FileExchange, content: Buffer): Buffer => {
  const type = contentType === '' || contentType === 'auto' ? 'application/octet-stream' : contentType;
  return Buffer.from(
    [
      'From: <tester@sender.test>',
      'To: <tester@receiver.test>',
      'Subject: A file is carried over',
      `Message-ID: <${token.replace('/', '.')}@sender.test>`,
      'MIME-Version: 1.0',
      `Content-Type: multipart/mixed; boundary="${boundary}"`,
      '',
      `--${boundary}`,
      'Content-Type: text/plain; charset=us-ascii',
      '',
      'A file is attached.',
      `--${boundary}`,
      `Content-Type: ${type}; name="${plainName(name)}"`,
      'Content-Transfer-Encoding: base64',
      `Content-Disposition: attachment; filename="${plainName(name)}"`,
      '',
      wrapped(content.toString('base64')),
      `--${boundary}--`,
      '',
    ].join('\r\n'),
    'latin1',
  );
};

/** The attachment of a mail, ignoring parts added in transit; undefined when it is missing. */
export const attachedFile = (mail: Buffer): Buffer | undefined => {
  const parts = mail.toString('latin1').split(`--${boundary}`).slice(1, -1);
  const attached = parts.find((part) => /^content-transfer-encoding:\s*base64/im.test(part));
  const body = attached
    ?.split(/\r?\n\r?\n/)
    .slice(1)
    .join('');
  return body === undefined ? undefined : Buffer.from(body.replace(/\s/g, ''), 'base64');
};
