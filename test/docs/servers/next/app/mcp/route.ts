// #region next
import { sagas } from '../../../sagas.ts';

const serve = (request: Request): Promise<Response> => sagas.fetch(request);

export { serve as GET, serve as POST, serve as DELETE };
// #endregion next
