/* What the shared library shows. */
#ifndef SOLAH_EXPORT_H
#define SOLAH_EXPORT_H

#if defined(_WIN32)
#define SOLAH_EXPORT __declspec(dllexport)
#else
#define SOLAH_EXPORT __attribute__((visibility("default")))
#endif

#endif
