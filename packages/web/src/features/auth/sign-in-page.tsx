import { useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { text } from '../../lib/text.ts';
import { AuthCard } from './auth-card.tsx';
import { SignInForm } from './sign-in-form.tsx';

export const SignInPage = () => {
  const { to } = useSearch({ from: '/sign-in' });
  const navigate = useNavigate();
  const queries = useQueryClient();
  const proceed = async (mustSetPassword: boolean) => {
    queries.clear();
    // Only paths of this site: a link from outside must not redirect elsewhere.
    const target = to?.startsWith('/') && !to.startsWith('//') ? to : '/';
    await navigate({ to: mustSetPassword ? '/password' : target });
  };
  return (
    <AuthCard title={text.auth.title}>
      <SignInForm onDone={({ isRequiredToSetPassword }) => void proceed(isRequiredToSetPassword)} />
    </AuthCard>
  );
};
