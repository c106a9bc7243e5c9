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
 * are told at once, and never the secret.
 */
export const parseS3Url = (text: string): S3Location => {
  const url = URL.parse(text);
  if (url?.protocol !== 's3:')
    throw new Error('S3_URL must look like s3://key:secret@host:port/bucket?region=…&tls=false');
  const [bucket = '', ...folders] = url.pathname
    .split('/')
    .filter((part) => part !== '')
    .map(decodeURIComponent);
  const tls = url.searchParams.get('tls') ?? 'true';
  const problems = [
    !url.hostname && 'names no host',
    !url.username && 'names no access key',
    !url.password && 'names no secret',
    !/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket) && 'names no valid bucket',
    tls !== 'true' && tls !== 'false' && 'has a tls that is neither true nor false',
    ...[...url.searchParams.keys()].map(
      (name) => name !== 'region' && name !== 'tls' && `has an unknown option ${name}`,
    ),
  ].filter((problem) => problem !== false);
  if (problems.length > 0) throw new Error(`S3_URL ${problems.join(', ')}`);
  return {
    endpoint: `${tls === 'true' ? 'https' : 'http'}://${url.host}`,
    region: url.searchParams.get('region') || 'us-east-1',
    bucket,
    prefix: folders.map((folder) => `${folder}/`).join(''),
    accessKeyId: decodeURIComponent(url.username),
    secretAccessKey: decodeURIComponent(url.password),
  };
};
