export interface S3Location {
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  /** Put before every key; empty or ending with a slash. */
  readonly prefix: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/**
 * Reads `s3://key:secret@host:port/bucket/prefix?region=…&tls=false`. Key and secret are percent-encoded. All problems
 * are reported together, and never the secret.
 */
export const parseS3Url = (text: string): S3Location => {
  const url = URL.parse(text);
  if (url?.protocol !== 's3:') {
    throw new Error('S3_URL must look like s3://key:secret@host:port/bucket?region=…&tls=false');
  }
  const accessKeyId = decode(url.username);
  const secretAccessKey = decode(url.password);
  const [bucket = '', ...folders] = (decode(url.pathname) ?? '').split('/').filter((part) => part !== '');
  const tls = url.searchParams.get('tls') ?? 'true';
  const unknown = [...url.searchParams.keys()].filter((name) => name !== 'region' && name !== 'tls');
  const problems = [
    !url.hostname && 'names no host',
    accessKeyId === '' && 'names no access key',
    secretAccessKey === '' && 'names no secret',
    (accessKeyId === undefined || secretAccessKey === undefined) && 'has a key or secret that is not percent-encoded',
    !/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket) && 'names no valid bucket',
    tls !== 'true' && tls !== 'false' && 'has a tls that is neither true nor false',
    unknown.length > 0 && `has an unknown option ${unknown.join(', ')}`,
  ].filter((problem) => problem !== false);
  if (problems.length > 0) throw new Error(`S3_URL ${problems.join(', ')}`);
  return {
    endpoint: `${tls === 'true' ? 'https' : 'http'}://${url.host}`,
    region: url.searchParams.get('region') || 'us-east-1',
    bucket,
    prefix: folders.map((folder) => `${folder}/`).join(''),
    accessKeyId: accessKeyId as string,
    secretAccessKey: secretAccessKey as string,
  };
};

const decode = (text: string) => {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
};
