import type { Principal } from '@mcp-saga/server';
import type { AuthInfo } from '@modelcontextprotocol/server';
import type { LambdaFunctionURLEventWithIAMAuthorizer } from 'aws-lambda';

type Authorizer = LambdaFunctionURLEventWithIAMAuthorizer['requestContext']['authorizer'];

/**
 * Returns the signer of the request. With `AuthType: AWS_IAM`, the function URL checks the
 * signature before it invokes the function.
 */
export function iamAuth(requestContext: object | undefined): AuthInfo | Response {
  const { authorizer } = (requestContext ?? {}) as { readonly authorizer?: Partial<Authorizer> };
  const { accountId, userId } = authorizer?.iam ?? {};
  // The function URL is open by mistake.
  if (!accountId || !userId)
    return new Response('This function URL needs AuthType AWS_IAM\n', { status: 403 });
  return { token: '', clientId: accountId, scopes: [], extra: { subject: userId } };
}

/**
 * Returns the IAM user, or the role and its session. Only this principal can continue the sagas of
 * this principal.
 */
export function principal(authInfo: unknown): Principal {
  const { clientId, extra } = authInfo as AuthInfo;
  const { subject } = extra as { readonly subject: string };
  return { issuer: `arn:aws:iam::${clientId}`, subject, client: clientId };
}
