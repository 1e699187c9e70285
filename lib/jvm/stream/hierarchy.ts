/**
 * Which of an object's classes hold data, and of what kind.
 *
 * @module
 */
import { type ClassDescriptor, ClassFlag } from "./graph.ts";

/** Its objects write themselves, what they have from their superclasses too. */
export function isExternalizable({ flags }: ClassDescriptor): boolean {
  return (flags & ClassFlag.EXTERNALIZABLE) !== 0;
}

/** Whether its part of an object has an annotation. */
export function isAnnotated({ flags }: ClassDescriptor): boolean {
  return (flags & (ClassFlag.WRITE_METHOD | ClassFlag.EXTERNALIZABLE)) !== 0;
}

/** The superclass whose data an object holds before this class's own. */
export function superclassWithData(
  descriptor: ClassDescriptor,
): ClassDescriptor | null {
  return isExternalizable(descriptor) ? null : descriptor.superclass;
}
