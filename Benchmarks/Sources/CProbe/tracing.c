#include <sys/prctl.h>

#include "probe.h"

void probe_allow_tracing(void) { prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0); }
