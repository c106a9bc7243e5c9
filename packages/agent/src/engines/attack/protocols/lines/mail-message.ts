import { type FileExchange, writeMail } from '@rushhour/protocol';

const boundary = 'part-of-a-carried-file';

const plainName = (name: string) => name.replace(/[^\x20-\x7e]|["\\]/g, '_');

/** A mail with the file attached. */
export const mailOf = (token: string, { name, contentType }: FileExchange, content: Buffer): Buffer => {
  const type = contentType === '' || contentType === 'auto' ? 'application/octet-stream' : contentType;
  const mail = writeMail({
    headers: [
      'From: <tester@sender.test>',
      'To: <tester@receiver.test>',
      'Subject: A file is carried over',
      `Message-ID: <${token.replace('/', '.')}@sender.test>`,
    ],
    ...{ boundary, text: 'A file is attached.', name: plainName(name), contentType: type, content },
  });
  return Buffer.from(mail, 'latin1');
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
