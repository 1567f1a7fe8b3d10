/** The stable code of a {@link CreateError}. */
export type CreateErrorCode =
  | 'invalid_option'
  | 'invalid_name'
  | 'folder_not_empty'
  | 'file_exists'
  | 'no_package'
  | 'no_packages';

/** An error in the options or in the folder of a project. */
export class CreateError extends Error {
  readonly code: CreateErrorCode;

  constructor(code: CreateErrorCode, message: string) {
    super(message);
    this.name = 'CreateError';
    this.code = code;
  }
}
