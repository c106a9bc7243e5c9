import { Alert, Button, PasswordInput, Stack, TextInput } from '@mantine/core';
import { RequestFailed } from '@rushhour/client';
import { type FormEvent, useState } from 'react';
import { client } from '../../lib/client.ts';
import { text } from '../../lib/text.ts';

interface SignInFormProps {
  email?: string;
  onDone: (result: { isRequiredToSetPassword: boolean }) => void;
}

export const SignInForm = ({ email = '', onDone }: SignInFormProps) => {
  const [problem, setProblem] = useState('');
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    setBusy(true);
    setProblem('');
    try {
      const { data } = await client.auth.login({
        body: { email: String(fields.get('email')), password: String(fields.get('password')) },
      });
      onDone(data);
    } catch (error) {
      const isWrong = error instanceof RequestFailed && error.status === 401;
      setProblem(isWrong ? text.auth.wrong : (error as Error).message);
    } finally {
      setBusy(false);
    }
  };
  return (
    <form onSubmit={(event) => void submit(event)}>
      <Stack>
        {problem && (
          <Alert color="red" role="alert">
            {problem}
          </Alert>
        )}
        <TextInput
          name="email"
          type="email"
          label={text.auth.email}
          defaultValue={email}
          autoComplete="username"
          required
          data-autofocus
        />
        <PasswordInput name="password" label={text.auth.password} autoComplete="current-password" required />
        <Button type="submit" loading={isBusy}>
          {text.auth.submit}
        </Button>
      </Stack>
    </form>
  );
};
