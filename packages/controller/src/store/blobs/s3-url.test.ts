import { expect, test } from 'vitest';
import { parseS3Url } from './s3-url.ts';

test('an address names host, bucket, prefix and decoded credentials', () => {
  expect(parseS3Url('s3://a%3Ab:se%2Fcret@store.test:9000/bucket/lab%201/x?region=eu-1&tls=false')).toEqual({
    endpoint: 'http://store.test:9000',
    region: 'eu-1',
    bucket: 'bucket',
    prefix: 'lab 1/x/',
    accessKeyId: 'a:b',
    secretAccessKey: 'se/cret',
  });
  expect(parseS3Url('s3://k:s@[::1]:9/bucket')).toMatchObject({
    endpoint: 'https://[::1]:9',
    region: 'us-east-1',
    prefix: '',
  });
});

test.each([
  ['http://k:s@h/bucket', 'must look like'],
  ['nonsense', 'must look like'],
  ['s3://h/bucket', 'names no access key, names no secret'],
  ['s3://k:topsecret@h', 'names no valid bucket'],
  ['s3://k:topsecret@h/B', 'names no valid bucket'],
  [
    's3://k:topsecret@h/bucket?tls=yes&regoin=x',
    'has a tls that is neither true nor false, has an unknown option regoin',
  ],
  ['s3://k:%zz@h/bucket', 'is not percent-encoded'],
])('%s is refused: %s', (url, problem) => {
  expect(() => parseS3Url(url)).toThrow(problem);
  expect(() => parseS3Url(url)).not.toThrow('topsecret');
});
