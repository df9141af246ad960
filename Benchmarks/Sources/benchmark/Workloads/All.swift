func allWorkloads(_ scale: Scale) -> [Workload] {
  PowerWorkloads.all(scale) + ProcessWorkloads.all(scale) + BatchWorkloads.all(scale) + OpenWorkloads.all(scale)
    + ReadWorkloads.all(scale) + CompactionWorkloads.all(scale) + VerifyWorkloads.all(scale)
    + [AmplificationWorkload.make(scale)] + StartWorkload.all()
}
