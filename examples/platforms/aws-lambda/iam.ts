import type { Principal } from '@mcp-saga/server';
import type { AuthInfo } from '@modelcontextprotocol/server';
import type { LambdaFunctionURLEventWithIAMAuthorizer } from 'aws-lambda';

type Authorizer = LambdaFunctionURLEventWithIAMAuthorizer['requestContext']['authorizer'];

/** Who signed the request. With `AuthType: AWS_IAM` the function URL has checked that before the function is invoked. */
export function iamAuth(requestContext: object | undefined): AuthInfo | Response {
  const { authorizer } = (requestContext ?? {}) as { readonly authorizer?: Partial<Authorizer> };
  const { accountId, userId } = authorizer?.iam ?? {};
  // Without it the URL is open to anybody, by mistake.
  if (!accountId || !userId)
    return new Response('This function URL needs AuthType AWS_IAM\n', { status: 403 });
  return { token: '', clientId: accountId, scopes: [], extra: { subject: userId } };
}

/** The IAM user, or the role and its session: nobody else goes on with their sagas. */
export function principal(authInfo: unknown): Principal {
  const { clientId, extra } = authInfo as AuthInfo;
  const { subject } = extra as { readonly subject: string };
  return { issuer: `arn:aws:iam::${clientId}`, subject, client: clientId };
}
