import { expect, it } from 'vitest';
import { PlanIssues } from '../core/plan-issues.ts';
import { inputOf } from '../testing/plan-fixture.ts';
import { withSupplicantCertificates } from './supplicant-certificates.ts';

const planned = (supplicant: object) => {
  const certificates = new Map([
    [1, { name: 'user', certificate: 'CERT', privateKey: 'KEY' }],
    [2, { name: 'authority', certificate: 'CA', privateKey: '' }],
  ]);
  const issues = new PlanIssues();
  const given = { dot1x: [{ supplicant }], lag: [{}] };
  const profiles = withSupplicantCertificates(inputOf([], { certificates } as never), given, { path: '/x', issues });
  return { profiles, messages: issues.issues.map(({ path, code, message }) => `${path} ${code} ${message}`) };
};

it('supplicants get the texts of their certificates, and others are left as they are', () => {
  const { profiles, messages } = planned({ method: 'tls', certificateID: 1, caCertificateID: 2 });
  expect(messages).toEqual([]);
  expect(profiles).toEqual({
    dot1x: [{ supplicant: { method: 'tls', certificate: 'CERT', privateKey: 'KEY', ca: 'CA' } }],
    lag: [{}],
  });
});

it('certificates that are not there, or cannot be shown, are reported', () => {
  expect(planned({ certificateID: 2, caCertificateID: 3 }).messages).toEqual([
    '/x/dot1x/0 CERTIFICATE_UNKNOWN /supplicant/caCertificateID: there is no certificate 3',
    '/x/dot1x/0 CERTIFICATE_UNKNOWN /supplicant/certificateID: certificate "authority" has no private key',
  ]);
});
