import { Alert, Button, PasswordInput, Stack, TextInput } from '@mantine/core';
import { RequestFailed } from '@rushhour/client';
import { useMutation } from '@tanstack/react-query';
import { client } from '../../lib/client.ts';
import { text } from '../../lib/text.ts';

interface SignInFormProps {
  email?: string;
  onDone: (result: { isRequiredToSetPassword: boolean }) => void;
}

export const SignInForm = ({ email = '', onDone }: SignInFormProps) => {
  const signIn = useMutation({
    mutationFn: async (fields: FormData) => {
      const body = { email: String(fields.get('email')), password: String(fields.get('password')) };
      return (await client.auth.login({ body })).data;
    },
    onSuccess: onDone,
  });
  const isWrong = signIn.error instanceof RequestFailed && signIn.error.status === 401;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        signIn.mutate(new FormData(event.currentTarget));
      }}
    >
      <Stack>
        {signIn.error && (
          <Alert color="red" role="alert">
            {isWrong ? text.auth.wrong : signIn.error.message}
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
        <Button type="submit" loading={signIn.isPending}>
          {text.auth.submit}
        </Button>
      </Stack>
    </form>
  );
};
